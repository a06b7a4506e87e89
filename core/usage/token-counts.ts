import type { UsageAnomaly, UsageAnomalyKind, UsageReading } from "../model/usage-reading.ts";
import type { ReplyFacts } from "../model/usage-reading.ts";
import { promptTokens } from "../model/usage-buckets.ts";
import type { TokenBuckets } from "../model/usage-buckets.ts";
import type { JsonRecord } from "./json-view.ts";

/** Thrown where a figure is read, caught where the reading is made; never leaves core/usage. */
export class CountRefusal extends Error {
  readonly kind: UsageAnomalyKind;

  constructor(kind: UsageAnomalyKind, detail: string) {
    super(detail);
    this.kind = kind;
  }

  get anomaly(): UsageAnomaly {
    return { kind: this.kind, detail: this.message };
  }
}

/** More than any model call can use; beyond it a figure is a mistake. */
const MAX_COUNT = 1_000_000_000;

/** A token count, null when the field is absent or null. Throws `CountRefusal` on anything else. */
export function countOf(source: JsonRecord, field: string): number | null {
  const value = source[field];
  if (value === undefined || value === null) return null;
  if (typeof value !== "number" || !Number.isInteger(value) || value > MAX_COUNT)
    throw new CountRefusal("not-a-count", `${field} is ${JSON.stringify(value)}`);
  if (value < 0) throw new CountRefusal("negative", `${field} is ${value}`);
  return value;
}

/**
 * One count that several fields may tell: the one they agree on. Zeros and absent fields do not
 * count, since gateways fill the forms they do not use with 0.
 */
export function agreedCount(
  fields: readonly { readonly source: JsonRecord; readonly field: string }[],
): number {
  const told = new Map<number, string>();
  for (const { source, field } of fields) {
    const count = countOf(source, field);
    if (count !== null && count > 0) told.set(count, field);
  }
  if (told.size > 1) {
    const detail = [...told].map(([count, field]) => `${field} is ${count}`).join(", ");
    throw new CountRefusal("fields-disagree", detail);
  }
  return told.keys().next().value ?? 0;
}

/** Facts and figures as a reading; a refusal of the final figures is an anomaly, of others nothing. */
export function readingOf(
  facts: Omit<ReplyFacts, "unreadableEvents">,
  isFinal: boolean,
  readTokens: () => TokenBuckets | null,
): UsageReading {
  const base = { ...facts, reasoning: wholeCount(facts.reasoning), unreadableEvents: 0 };
  try {
    const tokens = readTokens();
    if (!isFinal || tokens === null) return { ...base, status: "incomplete", tokens };
    // A server that fills in zeros would make every call free; only a failed call may use nothing.
    if (promptTokens(tokens) === 0 && facts.error === null)
      throw new CountRefusal("nothing-used", "a reply that used no input");
    return { ...base, status: "complete", tokens };
  } catch (thrown) {
    if (!(thrown instanceof CountRefusal)) throw thrown;
    if (!isFinal) return { ...base, status: "incomplete", tokens: null };
    return { ...base, status: "anomaly", anomaly: thrown.anomaly };
  }
}

function wholeCount(count: number | null): number | null {
  return count !== null && Number.isInteger(count) && count >= 0 ? count : null;
}
