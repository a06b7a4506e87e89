import type { OpenModels } from "../../core/ports/model-access.ts";

/** A value as JSON has them. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** What the words of an agent's definition stand for in one trial. */
export type Filling = Readonly<Record<FillingName, string | number>>;

type FillingName =
  | "origin"
  | "base"
  | "token"
  | "model"
  | "protocol"
  | "effort"
  | "home"
  | "workdir"
  | "tree"
  | "node"
  | "contextTokens"
  | "maxOutputTokens";

/** Told to agents that want figures where nobody knows the model's: what most models of today bear. */
const DEFAULT_CONTEXT_TOKENS = 200_000;
const DEFAULT_MAX_OUTPUT_TOKENS = 32_000;

const WORD = /\{(?<quoted>quoted:)?(?<name>\w+)\}/gu;
const ONE_WORD = /^\{(?<name>\w+)\}$/u;

export interface FillingFacts {
  readonly models: Pick<
    OpenModels,
    "origin" | "token" | "model" | "protocol" | "contextTokens" | "maxOutputTokens"
  >;
  readonly effort: string | null;
  readonly home: string;
  readonly workdir: string;
  readonly tree: string;
  readonly node: string;
}

export function fillingOf({ models, effort, ...places }: FillingFacts): Filling {
  return {
    origin: models.origin,
    base: models.protocol.startsWith("openai-") ? `${models.origin}/v1` : models.origin,
    token: models.token,
    model: models.model,
    protocol: models.protocol,
    effort: effort ?? "",
    ...places,
    contextTokens: models.contextTokens ?? DEFAULT_CONTEXT_TOKENS,
    maxOutputTokens: models.maxOutputTokens ?? DEFAULT_MAX_OUTPUT_TOKENS,
  };
}

/** A text with its words replaced; braces that hold no word of ours stay as they are. */
export function fillText(text: string, filling: Filling): string {
  return text.replaceAll(WORD, (whole: string, quoted: string | undefined, name: string) => {
    const value = valueOf(name, filling);
    if (value === null) return whole;
    return quoted === undefined ? String(value) : JSON.stringify(String(value));
  });
}

/** The same for the fields of an object. */
export function fillFields(
  fields: Readonly<Record<string, Json>>,
  filling: Filling,
): Readonly<Record<string, Json>> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, item]) => [fillText(key, filling), fillJson(item, filling)]),
  );
}

/** The same within a JSON value, its keys included; a text that is one word for a number becomes one. */
export function fillJson(value: Json, filling: Filling): Json {
  if (typeof value === "string") {
    const only = valueOf(ONE_WORD.exec(value)?.groups?.["name"] ?? "", filling);
    return typeof only === "number" ? only : fillText(value, filling);
  }
  if (Array.isArray(value)) return value.map((item) => fillJson(item, filling));
  if (typeof value !== "object" || value === null) return value;
  return { ...fillFields(value, filling) };
}

function valueOf(name: string, filling: Filling): string | number | null {
  return Object.entries(filling).find(([key]) => key === name)?.[1] ?? null;
}

/** Fields of two objects, the second's in the place of the first's; objects within are laid over likewise. */
export function overlay(below: Fields, above: Fields): Fields {
  const laid = Object.entries(above).map(([key, value]): [string, Json] => {
    const under = below[key];
    return [key, isFields(under) && isFields(value) ? { ...overlay(under, value) } : value];
  });
  return { ...below, ...Object.fromEntries(laid) };
}

type Fields = Readonly<Record<string, Json>>;

function isFields(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
