import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import * as z from "zod";
import { BudgetSummary } from "../../core/model/ledger-budget.ts";
import { RequestRow } from "../../core/model/exchange.ts";
import { TrialResult } from "../../core/model/trial-result.ts";
import type { ModelScriptInput } from "../fakes/model-server/model-script.ts";
import { type ModelServer, startModelServer } from "../fakes/model-server/start-model-server.ts";
import { type BenchOptions, type BenchRun, runBench, startBench } from "./run-bench.ts";
import { writeTask } from "./write-task.ts";

/** As odd as keys come: its encodings differ from each other and from it. */
export const PROVIDER_KEY = "sk-e2e/9f8e7d6c5b4a+3210=KEY_of-the.provider~x";

/** Dollars per million tokens. */
export const RATES = { input: 10, output: 50, cache_read: 1 } as const;

/** What one scripted call uses. */
export const TURN = {
  text: "done",
  usage: { input: 20_000, cacheRead: 9_000, cacheWrite5m: 0, output: 40 },
} as const;
/** The same as Chat Completions tells it, and what it costs. */
export const CALL = { inputTokens: 29_000, outputTokens: 40, cacheRead: 9_000 } as const;
export const CALL_MICRO_USD =
  20_000 * RATES.input + CALL.cacheRead * RATES.cache_read + CALL.outputTokens * RATES.output;

/** Dollars of micro-dollars. */
export const usd = (microUsd: number): number => microUsd / 1e6;

/** A call of the agent: no tool of the image but perl, as Debian's essential packages have it. */
const CALLER = String.raw`
use strict; use IO::Socket::INET;
my ($host, $port) = $ENV{BENCH_MODEL_ORIGIN} =~ m{//(.*):(\d+)};
my $body = '{"model":"' . $ENV{BENCH_MODEL_NAME} . '","max_tokens":100,"messages":[{"role":"user","content":"' . ("x" x 30000) . '"}],' .
  '"tools":[{"type":"function","function":{"name":"bash","parameters":{"type":"object","properties":{"command":{"type":"string"}}}}}]}';
my $socket = IO::Socket::INET->new(PeerAddr => $host, PeerPort => $port) or do { print "000\n"; exit };
print $socket "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer $ENV{BENCH_MODEL_TOKEN}\r\n" .
  "content-type: application/json\r\nconnection: close\r\ncontent-length: " . length($body) . "\r\n\r\n" . $body;
my $answer = join "", <$socket>;
print +($answer =~ m{^HTTP/1\.1 (\d+)} ? $1 : "cut"), "\n";
`;

export interface ModelTaskWish {
  /** Calls that the agent makes before it writes the right answer. */
  readonly calls: number;
  /** Shell before the first call. */
  readonly before?: string;
  readonly toml?: string;
}

/** A task whose agent asks its model, then solves it whatever the model said. */
export async function writeModelTask(dir: string, wish: ModelTaskWish): Promise<void> {
  const agent = [
    wish.before ?? "",
    `cat > /tmp/call.pl <<'PERL'\n${CALLER}\nPERL`,
    `for i in $(seq ${String(wish.calls)}); do perl /tmp/call.pl >> /app/statuses; done`,
    "echo 1 > /app/answer",
  ].join("\n");
  await writeTask(dir, { agent, ...(wish.toml === undefined ? {} : { toml: wish.toml }) });
}

/** So many tasks of so many calls each, and the prices of their model. */
export async function writeModelTasks(dir: string, count: number, calls: number): Promise<void> {
  for (let index = 0; index < count; index += 1)
    await writeModelTask(join(dir, "tasks", `task-${String(index).padStart(2, "0")}`), { calls });
  await writePrices(join(dir, "prices.json"));
}

/** A provider that ends with the test. */
export async function aProvider(faults: ModelScriptInput["faults"] = []): Promise<ModelServer> {
  const server = await startModelServer({ turns: [TURN], faults });
  onTestFinished(async () => await server.close());
  return server;
}

export async function writePrices(path: string): Promise<void> {
  const prices = { "xiaomi/scripted-model": RATES };
  const file = { version: 1, source: "https://example.com", date: "2026-11-30", prices };
  await writeFile(path, JSON.stringify(file));
}

/** The environment of a person whose provider is the fake. */
export function providerEnv(server: Pick<ModelServer, "origin">): Record<string, string> {
  return { XIAOMI_API_KEY: PROVIDER_KEY, XIAOMI_BASE_URL: `${server.origin}/v1` };
}

export type ModelBench = BenchOptions & { readonly args?: readonly string[] };

const ARGS =
  "run tasks -a script-models -m xiaomi/scripted-model --env local --max-output-tokens 100 --prices prices.json";

export async function runModelBench({ args = [], ...options }: ModelBench): Promise<BenchRun> {
  return await runBench([...ARGS.split(" "), ...args], options);
}

export function startModelBench({
  args = [],
  ...options
}: ModelBench): ReturnType<typeof startBench> {
  return startBench([...ARGS.split(" "), ...args], options);
}

export interface ReadTrial {
  readonly dir: string;
  readonly result: TrialResult;
  readonly rows: readonly RequestRow[];
}

const Summary = z.looseObject({ budget: BudgetSummary, total_cost_usd: z.number().nullable() });

export interface ReadModelJob {
  readonly dir: string;
  readonly summary: z.infer<typeof Summary>;
  readonly trials: readonly ReadTrial[];
}

/** The one job below a jobs folder, each file held to its schema; unfinished attempts left out. */
export async function readModelJob(jobs: string): Promise<ReadModelJob> {
  const [name = "", ...others] = (await readdir(jobs)).filter((each) => /^\d{4}-/u.test(each));
  if (others.length > 0) throw new Error(`more than one job: ${others.join(", ")}`);
  const dir = join(jobs, name);
  const summary = Summary.parse(JSON.parse(await readFile(join(dir, "summary.json"), "utf8")));
  const trials: ReadTrial[] = [];
  for (const each of (await readdir(dir)).filter((entry) => entry.includes("__")).toSorted()) {
    const trial = join(dir, each);
    if (!existsSync(join(trial, "result.json"))) continue;
    const text = await readFile(join(trial, "result.json"), "utf8");
    // An attempt that was never started, since the breaker was open, asked nothing.
    const requests = join(trial, "trajectory/requests.jsonl");
    const lines = existsSync(requests) ? await readFile(requests, "utf8") : "";
    const rows = lines.split("\n").filter((line) => line !== "");
    trials.push({
      dir: trial,
      result: TrialResult.parse(JSON.parse(text)),
      rows: rows.map((line) => RequestRow.parse(JSON.parse(line))),
    });
  }
  return { dir, summary, trials };
}
