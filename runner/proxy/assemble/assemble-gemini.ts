import { listOf, numberOf, recordOf, textOf } from "../../../core/usage/json-view.ts";
import type { JsonRecord } from "../../../core/usage/json-view.ts";
import { KeptText } from "./kept-text.ts";
import type { KeepBudget } from "./kept-text.ts";
import { sse } from "./reply-assembler.ts";
import type { ReplyAssembler } from "./reply-assembler.ts";

const HEAD_FIELDS = ["usageMetadata", "modelVersion", "responseId", "promptFeedback", "error"];
/** More than any provider gives; a bound on what a hostile stream can make us keep. */
const MAX_CANDIDATES = 128;
/** What a part costs of the budget beside its text. */
const ENTRY_CHARS = 64;

type Part = { readonly text: KeptText; readonly thought: boolean } | { readonly other: unknown };

interface Candidate {
  readonly parts: Part[];
  rest: JsonRecord;
}

export class GeminiAssembler implements ReplyAssembler {
  readonly #budget: KeepBudget;
  readonly #candidates = new Map<number, Candidate>();
  readonly #head: Record<string, unknown> = {};
  visibleChars = 0;

  constructor(budget: KeepBudget) {
    this.#budget = budget;
  }

  read(event: unknown): void {
    for (const chunk of Array.isArray(event) ? event : [event]) {
      const fields = recordOf(chunk);
      for (const name of HEAD_FIELDS) if (name in fields) this.#head[name] = fields[name];
      for (const candidate of listOf(fields["candidates"]))
        this.#takeCandidate(recordOf(candidate));
    }
  }

  body(): unknown {
    const candidates = [...this.#candidates.values()].map(wholeCandidate);
    if (candidates.length === 0 && Object.keys(this.#head).length === 0) return null;
    return { candidates, ...this.#head };
  }

  cappedEnding(outputTokens: number): string {
    const content = { role: "model", parts: [{ text: "" }] };
    return sse(null, {
      ...this.#head,
      candidates: [{ content, index: 0, finishReason: "MAX_TOKENS" }],
      usageMetadata: {
        ...recordOf(this.#head["usageMetadata"]),
        candidatesTokenCount: outputTokens,
      },
    });
  }

  #takeCandidate(fields: JsonRecord): void {
    const { content, ...rest } = fields;
    const index = numberOf(fields["index"]) ?? 0;
    if (index >= MAX_CANDIDATES) return;
    const kept = this.#candidates.get(index) ?? { parts: [], rest: {} };
    this.#candidates.set(index, kept);
    // Each chunk tells all that it knows; only the finish reason and ratings come late.
    if (Object.keys(rest).length > 0) kept.rest = rest;
    for (const part of listOf(recordOf(content)["parts"])) this.#takePart(kept, recordOf(part));
  }

  #takePart(candidate: Candidate, part: JsonRecord): void {
    const text = textOf(part["text"]);
    const isPlain = Object.keys(part).every((key) => key === "text" || key === "thought");
    if (text === null || !isPlain) {
      const json = JSON.stringify(part);
      this.visibleChars += json.length;
      if (this.#budget.pay(json.length)) candidate.parts.push({ other: part });
      return;
    }
    const thought = part["thought"] === true;
    const last = candidate.parts.at(-1);
    const goesOn = last !== undefined && "text" in last && last.thought === thought;
    const target = goesOn ? last : { text: new KeptText(this.#budget), thought };
    if (!goesOn && this.#budget.pay(ENTRY_CHARS)) candidate.parts.push(target);
    this.visibleChars += text.length;
    target.text.add(text);
  }
}

function wholeCandidate({ parts, rest }: Candidate): JsonRecord {
  return { content: { role: "model", parts: parts.map(wholePart) }, ...rest };
}

function wholePart(part: Part): unknown {
  if ("other" in part) return part.other;
  return part.thought ? { text: String(part.text), thought: true } : { text: String(part.text) };
}
