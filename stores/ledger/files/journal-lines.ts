import { createHash } from "node:crypto";
import * as z from "zod";
import { ItemUpdate } from "../../../core/model/ledger-update.ts";

/** What one write did. `n` counts the writes of a pot's whole life. */
export const JournalRecord = z.object({ n: z.int().min(1), updates: z.array(ItemUpdate) });
export type JournalRecord = z.infer<typeof JournalRecord>;

/** A line and the sum that the next one is chained to. */
export interface ChainedLine {
  readonly text: string;
  readonly chain: string;
}

/**
 * `<sum> <json>\n`, where the sum is over the line before and this one: no line can be changed, left
 * out, put in or swapped without its being seen.
 */
export function writeLine(chain: string, value: unknown): ChainedLine {
  const json = JSON.stringify(value);
  const sum = sumOf(chain, json);
  return { text: `${sum} ${json}\n`, chain: sum };
}

export interface JournalReading {
  readonly records: readonly JournalRecord[];
  /** Bytes of the whole and true lines. */
  readonly goodBytes: number;
  readonly chain: string;
  /** What follows them: nothing, the beginning of a line, or something that no writer leaves. */
  readonly rest: "none" | "torn" | "damaged";
}

/** Reads lines as far as they are whole and true. */
export function readLines(bytes: Buffer, chainBefore: string): JournalReading {
  const records: JournalRecord[] = [];
  let chain = chainBefore;
  let from = 0;
  for (;;) {
    const end = bytes.indexOf(0x0a, from);
    if (end < 0) break;
    const line = readLine(bytes.toString("utf8", from, end), chain);
    if (line === null) return { records, goodBytes: from, chain, rest: "damaged" };
    records.push(line.record);
    chain = line.chain;
    from = end + 1;
  }
  return { records, goodBytes: from, chain, rest: from === bytes.length ? "none" : "torn" };
}

function readLine(
  line: string,
  chain: string,
): { readonly record: JournalRecord; readonly chain: string } | null {
  const json = readSummed(line, chain);
  if (json === null) return null;
  const record = JournalRecord.safeParse(json.value);
  return record.success ? { record: record.data, chain: json.chain } : null;
}

/** The value of a line without its end; null when its sum is another one. */
export function readSummed(
  line: string,
  chain: string,
): { readonly value: unknown; readonly chain: string } | null {
  const [sum = ""] = line.split(" ", 1);
  const json = line.slice(sum.length + 1);
  return sumOf(chain, json) === sum ? { value: JSON.parse(json), chain: sum } : null;
}

function sumOf(chain: string, json: string): string {
  return createHash("sha256").update(`${chain}\n${json}`).digest("hex").slice(0, 16);
}
