import { isRecord } from "../../core/usage/json-view.ts";
import type { JsonRecord } from "../../core/usage/json-view.ts";

/** Deeper than any schema of a tool; a bound on what a hostile request can make us walk. */
const MAX_DEPTH = 64;

/**
 * Gemini's own schemas (OpenAPI 3.0: types in capitals, `nullable`) as JSON Schema. Only where schemas
 * stand: a property may be called `type`, and an example may hold anything.
 */
export function jsonSchemaOf(schema: JsonRecord, depth = 0): JsonRecord {
  if (depth > MAX_DEPTH) return {};
  const inner = (value: unknown): unknown =>
    isRecord(value) ? jsonSchemaOf(value, depth + 1) : value;
  const { nullable, ...fields } = schema;
  const entries = Object.entries(fields).map(([name, value]): [string, unknown] => {
    switch (name) {
      case "type":
        return [name, typeOf(value, nullable === true)];
      case "items":
      case "additionalProperties":
        return [name, inner(value)];
      case "properties":
        return [name, mapValues(value, inner)];
      case "anyOf":
        return [name, Array.isArray(value) ? value.map(inner) : value];
      default:
        return [name, value];
    }
  });
  return Object.fromEntries(entries);
}

function typeOf(type: unknown, isNullable: boolean): unknown {
  if (typeof type !== "string") return type;
  return isNullable ? [type.toLowerCase(), "null"] : type.toLowerCase();
}

function mapValues(value: unknown, change: (value: unknown) => unknown): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, change(item)]));
}
