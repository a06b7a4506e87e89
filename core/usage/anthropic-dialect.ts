import { addTokens } from "../model/usage-buckets.ts";
import type { TokenBuckets } from "../model/usage-buckets.ts";
import type { UsageReading } from "../model/usage-reading.ts";
import { errorText } from "./error-text.ts";
import { tierExtras } from "./inclusive-counts.ts";
import { isRecord, listOf, numberOf, recordOf, textOf } from "./json-view.ts";
import type { JsonRecord } from "./json-view.ts";
import { RisingCounts } from "./rising-counts.ts";
import { CountRefusal, countOf, readingOf } from "./token-counts.ts";
import type { UsageDialect } from "./usage-dialect.ts";

/** A usage object has a dozen; a bound on what a hostile stream can make us keep. */
const MAX_FIELDS = 128;

/**
 * Anthropic Messages (notes/agents 7). `message_start` tells the input, each `message_delta` tells
 * cumulative figures that replace what is told before; the last one is final. Input, cache reads and
 * cache writes are disjoint.
 */
export class AnthropicDialect implements UsageDialect {
  #usage: JsonRecord = {};
  #model: string | null = null;
  #stopReason: string | null = null;
  #error: string | null = null;
  #hasOutput = false;
  #hasStopped = false;
  readonly #counts = new RisingCounts();

  read(event: unknown): void {
    const { type, message, delta, usage, error } = recordOf(event);
    if (type === "message_start") this.#start(recordOf(message));
    else if (type === "message") {
      this.#start(recordOf(event));
      this.#stopReason = textOf(recordOf(event)["stop_reason"]);
      this.#hasOutput = isRecord(usage);
      this.#hasStopped = true;
    } else if (type === "message_delta") {
      this.#overwrite(recordOf(usage));
      // What `message_start` tells of the output is a guess, and may be more than comes.
      this.#counts.tell("output_tokens", numberOf(recordOf(usage)["output_tokens"]));
      this.#stopReason = textOf(recordOf(delta)["stop_reason"]) ?? this.#stopReason;
      this.#hasOutput ||= numberOf(recordOf(usage)["output_tokens"]) !== null;
    } else if (type === "message_stop") this.#hasStopped = true;
    else if (error !== undefined) this.#error = errorText(error);
  }

  endMark(): void {}

  hasEnded(): boolean {
    return this.#hasStopped || this.#stopReason !== null;
  }

  outputSoFar(): number {
    return numberOf(this.#usage["output_tokens"]) ?? 0;
  }

  reading(): UsageReading {
    const facts = {
      model: this.#model,
      stopReason: this.#stopReason,
      reasoning: numberOf(recordOf(this.#usage["output_tokens_details"])["thinking_tokens"]),
      error: this.#error,
      extras: anthropicExtras(this.#usage),
      raw: Object.keys(this.#usage).length > 0 ? this.#usage : null,
    };
    // Deltas may come while the model still works: only the last one counts all of its output.
    const isFinal = this.#hasOutput && this.hasEnded();
    return readingOf(facts, isFinal, () => this.#counts.checked(anthropicBuckets(this.#usage)));
  }

  #start(message: JsonRecord): void {
    this.#model = textOf(message["model"]);
    this.#overwrite(recordOf(message["usage"]));
  }

  #overwrite(usage: JsonRecord): void {
    const told = Object.entries(usage).filter(([, value]) => value !== null);
    if (told.length + Object.keys(this.#usage).length > MAX_FIELDS) return;
    this.#usage = { ...this.#usage, ...Object.fromEntries(told) };
    const input = numberOf(this.#usage["input_tokens"]);
    const cached = ["cache_read_input_tokens", "cache_creation_input_tokens"].reduce(
      (sum, field) => sum + (numberOf(this.#usage[field]) ?? 0),
      0,
    );
    // A gateway may count the cached part in at first and apart in the end.
    this.#counts.tell("the prompt", input === null ? null : input + cached, input);
  }
}

/**
 * The buckets of one usage object, with what the API leaves out of its own totals: a compaction is a
 * model call of its own, billed, and listed among the iterations only.
 */
function anthropicBuckets(usage: JsonRecord): TokenBuckets | null {
  const own = iterationBuckets(usage);
  if (own === null) return null;
  return listOf(usage["iterations"])
    .filter((entry) => recordOf(entry)["type"] === "compaction")
    .reduce((sum: TokenBuckets, entry) => {
      const compaction = iterationBuckets(recordOf(entry));
      return compaction === null ? sum : addTokens(sum, compaction);
    }, own);
}

function iterationBuckets(usage: JsonRecord): TokenBuckets | null {
  const input = countOf(usage, "input_tokens");
  const output = countOf(usage, "output_tokens");
  if (input === null || output === null) return null;
  const cacheRead = countOf(usage, "cache_read_input_tokens") ?? 0;
  const writes = cacheWrites(usage);
  const cached = cacheRead + writes.cacheWrite5m + writes.cacheWrite1h;
  const uncached = uncachedInput(input, output, cached, countOf(usage, "total_tokens"));
  return { input: uncached, output, cacheRead, ...writes };
}

/** Gateways that count in OpenAI's manner give a total, which tells whether the input is inclusive. */
function uncachedInput(
  input: number,
  output: number,
  cached: number,
  total: number | null,
): number {
  if (total === null || total === input + cached + output) return input;
  if (total !== input + output)
    throw new CountRefusal(
      "total-mismatch",
      `${input} + ${output} tokens with ${cached} cached are told to be ${total} in all`,
    );
  if (cached > input)
    throw new CountRefusal("cache-exceeds-input", `${cached} cached of ${input} input tokens`);
  return input - cached;
}

function cacheWrites(usage: JsonRecord): Pick<TokenBuckets, "cacheWrite5m" | "cacheWrite1h"> {
  const written = countOf(usage, "cache_creation_input_tokens");
  const split = usage["cache_creation"];
  const short = isRecord(split) ? countOf(split, "ephemeral_5m_input_tokens") : null;
  const long = isRecord(split) ? countOf(split, "ephemeral_1h_input_tokens") : null;
  const cacheWrite1h = long ?? 0;
  const cacheWrite5m = short ?? Math.max((written ?? 0) - cacheWrite1h, 0);
  if (written !== null && cacheWrite5m + cacheWrite1h !== written)
    throw new CountRefusal(
      "fields-disagree",
      `${written} tokens written to the cache, but ${cacheWrite5m} for 5 min and ${cacheWrite1h} for 1 h`,
    );
  return { cacheWrite5m, cacheWrite1h };
}

/** Values of `inference_geo` without a surcharge. */
const LISTED_GEOS = new Set(["global", "not_available"]);
const OTHER_MODELS = new Set(["advisor_message", "fallback_message"]);

function anthropicExtras(usage: JsonRecord): string[] {
  const serverTools = Object.entries(recordOf(usage["server_tool_use"])).flatMap(([name, count]) =>
    (numberOf(count) ?? 0) > 0 ? [name] : [],
  );
  const geo = textOf(usage["inference_geo"]);
  const speed = textOf(usage["speed"]);
  const otherModels = listOf(usage["iterations"]).flatMap((entry) => {
    const type = textOf(recordOf(entry)["type"]);
    return type !== null && OTHER_MODELS.has(type) ? [type] : [];
  });
  return [
    ...serverTools,
    ...tierExtras(usage["service_tier"]),
    ...(geo === null || LISTED_GEOS.has(geo) ? [] : [`inference_geo ${geo}`]),
    ...(speed === null || speed === "standard" ? [] : [`speed ${speed}`]),
    ...new Set(otherModels),
  ];
}
