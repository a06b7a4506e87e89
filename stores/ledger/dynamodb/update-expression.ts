import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { convertToAttr } from "@aws-sdk/util-dynamodb";
import type { Change, Condition, ItemUpdate } from "../../../core/model/ledger-update.ts";

/** A conditional update in DynamoDB's words. */
export interface UpdateExpression {
  readonly UpdateExpression: string;
  readonly ConditionExpression?: string;
  readonly ExpressionAttributeNames: Record<string, string>;
  readonly ExpressionAttributeValues?: Record<string, AttributeValue>;
}

/**
 * The conditions and changes as expressions (DynamoDB Developer Guide, "Update expressions"). Every name and
 * value is passed beside them, so that no name of a task can be read as a word of theirs. `ADD` works on
 * outermost fields alone: a sum is a `SET`.
 */
export function updateExpression({ conditions, changes }: ItemUpdate): UpdateExpression {
  const parts = new Parts();
  const sets: string[] = [];
  const removals: string[] = [];
  for (const change of changes)
    (change.do === "remove" ? removals : sets).push(changeTerm(change, parts));
  const condition = conditions.map((each) => conditionTerm(each, parts)).join(" AND ");
  const clauses = [
    ...(sets.length > 0 ? [`SET ${sets.join(", ")}`] : []),
    ...(removals.length > 0 ? [`REMOVE ${removals.join(", ")}`] : []),
  ];
  return {
    UpdateExpression: clauses.join(" "),
    ...(condition === "" ? {} : { ConditionExpression: condition }),
    ExpressionAttributeNames: parts.names,
    // An empty one is refused.
    ...(Object.keys(parts.values).length === 0 ? {} : { ExpressionAttributeValues: parts.values }),
  };
}

function changeTerm(change: Change, parts: Parts): string {
  const path = parts.path(change.path);
  if (change.do === "remove") return path;
  if (change.do === "set") return `${path} = ${parts.value(change.value)}`;
  return `${path} = if_not_exists(${path}, ${parts.value(0)}) + ${parts.value(change.by)}`;
}

function conditionTerm(condition: Condition, parts: Parts): string {
  const path = parts.path(condition.path);
  switch (condition.is) {
    case "absent":
      return `attribute_not_exists(${path})`;
    case "present":
      return `attribute_exists(${path})`;
    case "equal":
      return `${path} = ${parts.value(condition.value)}`;
    case "at-least":
      return `${path} >= ${parts.value(condition.value)}`;
  }
}

/** The names, each once, and the values of an expression by their place holders. */
class Parts {
  readonly names: Record<string, string> = {};
  readonly values: Record<string, AttributeValue> = {};
  readonly #holders = new Map<string, string>();

  path(fields: readonly string[]): string {
    return fields.map((field) => this.#name(field)).join(".");
  }

  value(value: unknown): string {
    const holder = `:v${String(Object.keys(this.values).length)}`;
    this.values[holder] = convertToAttr(value);
    return holder;
  }

  #name(field: string): string {
    const known = this.#holders.get(field);
    if (known !== undefined) return known;
    const holder = `#n${String(this.#holders.size)}`;
    this.#holders.set(field, holder);
    this.names[holder] = field;
    return holder;
  }
}
