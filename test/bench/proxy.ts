/**
 * What the model proxy costs (issue 4, "It must show" 6): its added latency at 64 kB bodies, alone and with
 * 50 streams at once (at a model's pace, and as fast as both ends can), its memory while 1 GB flows through it,
 * and LiteLLM's proxy side by side, in turns on the same upstream. Provider, clients and both proxies are
 * processes of their own. Prints one JSON object, with what is asked of each figure, and keeps it as
 * results/proxy.json. `--no-litellm` leaves LiteLLM out.
 *
 *   npm run bench:proxy
 */
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { about, added, median, type Percentiles, percentiles, rounded } from "./proxy-figures.ts";
import type { Job, Timing } from "./proxy-load.ts";
import { memoryOf, type ProcessMemory } from "./process-memory.ts";
import { type Litellm, startLitellm } from "./start-litellm.ts";

const WARM_UP = 60;
const ROUNDS = 4;
const SEQUENTIAL = 400;
const STREAMS = 50;
const PER_STREAM = 8;
const FLOW_BYTES = 1024 * 1024 * 1024;
const FLOW_STREAMS = 4;
/** Twenty events in 300 ms: a fast model. */
const PAUSE_MS = 15;
const LIMIT_MS = 900_000;

const children: ChildProcess[] = [];
const scratch = mkdtempSync(join(tmpdir(), "bench-proxy-"));
const deadline = setTimeout(() => {
  console.error(`not done within ${LIMIT_MS} ms`);
  end();
  process.exit(1);
}, LIMIT_MS);
try {
  await measure();
} finally {
  clearTimeout(deadline);
  end();
}

function end(): void {
  for (const each of children) each.kill("SIGKILL");
  rmSync(scratch, { recursive: true, force: true });
}

interface Served {
  readonly origin: string;
  readonly token: string;
  readonly memory: () => ProcessMemory;
}

async function measure(): Promise<void> {
  const load = fileURLToPath(new URL("proxy-load.ts", import.meta.url));
  const [provider] = await child<{ port: number }>(load, ["provider"]);
  const direct = { origin: `http://127.0.0.1:${provider.port}`, token: "x" };
  const client = (await child<unknown>(load, ["client"]))[1];
  const ours = await startOurs(direct.origin);
  const litellm = process.argv.includes("--no-litellm") ? null : await startLitellm(direct.origin);
  try {
    const ways = { direct, ours, ...(litellm === null ? {} : { litellm }) };
    for (const way of Object.values(ways)) await ask(client, { ...way, ...shape(WARM_UP, 1) });
    const idle = memoryOfBoth(ours, litellm);
    const alone = await compare(client, ways, shape(SEQUENTIAL, 1));
    const paced = shape(PER_STREAM, STREAMS, { pauseMs: PAUSE_MS });
    const streamed = await compare(client, ways, paced);
    const atOnce = await compare(client, ways, shape(PER_STREAM, STREAMS));
    const busy = memoryOfBoth(ours, litellm);
    const flow = shape(1, FLOW_STREAMS, { flowBytes: FLOW_BYTES / FLOW_STREAMS });
    const memory = await flowThrough(client, ours, flow);
    const figures = { alone, streamed, atOnce, footprint: { idle, busy }, memory };
    const version = litellm?.version ?? null;
    report({ ...about(), litellm: version, asked: verdicts(figures), ...figures });
  } finally {
    litellm?.stop();
  }
}

/** Bundled, so that its memory is the proxy's and not that of what translates TypeScript. */
async function startOurs(providerOrigin: string): Promise<Served> {
  const outfile = join(scratch, "proxy-serve.mjs");
  await build({
    entryPoints: [fileURLToPath(new URL("proxy-serve.ts", import.meta.url))],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    tsconfigRaw: {},
    logLevel: "warning",
  });
  const [{ origin, token }, { pid = 0 }] = await child<Target>(outfile, [providerOrigin], []);
  return { origin, token, memory: () => memoryOf(pid) };
}

async function child<Ready>(
  file: string,
  args: readonly string[],
  execArgv: readonly string[] = process.execArgv,
): Promise<[Ready, ChildProcess]> {
  const started = fork(file, args, { execArgv: [...execArgv] });
  children.push(started);
  const [ready] = (await once(started, "message")) as [Ready];
  return [ready, started];
}

type Shape = Pick<Job, "requests" | "parallel" | "flowBytes" | "pauseMs">;

/** So many requests on each of so many connections. */
function shape(requests: number, parallel: number, { flowBytes = 0, pauseMs = 0 } = {}): Shape {
  return { requests, parallel, flowBytes, pauseMs };
}

type Target = Pick<Job, "origin" | "token">;

async function ask(
  client: ChildProcess,
  { origin, token, ...rest }: Target & Shape,
): Promise<Timing[]> {
  const { requests, parallel, flowBytes, pauseMs } = rest;
  client.send({ origin, token, requests, parallel, flowBytes, pauseMs });
  const [timings] = (await once(client, "message")) as [Timing[]];
  return timings;
}

interface Compared {
  readonly streams: number;
  readonly direct: Percentiles;
  readonly ours: Percentiles & Record<string, number>;
  readonly litellm: (Percentiles & Record<string, number>) | null;
}

interface Ways {
  readonly direct: Target;
  readonly ours: Target;
  readonly litellm?: Target;
}

/** All ways in turns, so that the machine's other work falls on each. */
async function compare(client: ChildProcess, ways: Ways, wanted: Shape): Promise<Compared> {
  const part = { ...wanted, requests: Math.max(1, Math.floor(wanted.requests / ROUNDS)) };
  const found: Record<"direct" | "ours" | "litellm", Timing[]> = {
    direct: [],
    ours: [],
    litellm: [],
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    found.direct.push(...(await ask(client, { ...ways.direct, ...part })));
    found.ours.push(...(await ask(client, { ...ways.ours, ...part })));
    if (ways.litellm !== undefined)
      found.litellm.push(...(await ask(client, { ...ways.litellm, ...part })));
  }
  const direct = percentiles(found.direct);
  const [ours, litellm] = [percentiles(found.ours), percentiles(found.litellm)];
  return {
    streams: wanted.parallel,
    direct,
    ours: { ...ours, ...added(direct, ours) },
    litellm: ways.litellm === undefined ? null : { ...litellm, ...added(direct, litellm) },
  };
}

interface Footprint {
  readonly ours: ProcessMemory;
  readonly litellm: ProcessMemory | null;
}

function memoryOfBoth(ours: Served, litellm: Litellm | null): Footprint {
  return { ours: ours.memory(), litellm: litellm?.memory() ?? null };
}

interface Flow {
  readonly bytes: number;
  readonly megabytesPerSec: number;
  readonly rssStartMb: number;
  /** Median resident memory in each quarter of the time: garbage comes and goes, what is kept stays. */
  readonly rssByQuarterMb: readonly number[];
  readonly rssPeakMb: number;
}

/** The proxy's resident memory while bytes flow, and how fast they do. */
async function flowThrough(client: ChildProcess, ours: Served, flow: Shape): Promise<Flow> {
  const samplesMb: number[] = [];
  const { rssMb: rssStartMb } = ours.memory();
  const sampling = setInterval(() => samplesMb.push(ours.memory().rssMb), 100);
  const startMs = performance.now();
  const timings = await ask(client, { ...ours, ...flow });
  const seconds = (performance.now() - startMs) / 1000;
  clearInterval(sampling);
  const bytes = timings.reduce((sum, timing) => sum + timing.bytes, 0);
  return {
    bytes,
    megabytesPerSec: rounded(bytes / 1e6 / seconds),
    rssStartMb,
    rssByQuarterMb: [0, 1, 2, 3].map((quarter) => {
      const at = (share: number): number => Math.floor((samplesMb.length * share) / 4);
      return rounded(median(samplesMb.slice(at(quarter), at(quarter + 1))));
    }),
    rssPeakMb: rounded(Math.max(...samplesMb)),
  };
}

interface Figures {
  readonly alone: Compared;
  readonly streamed: Compared;
  /** After one stream's calls, and after those of 50. */
  readonly footprint: { readonly idle: Footprint; readonly busy: Footprint };
  readonly memory: Flow;
}

/** Each demand with whether it was met; null where LiteLLM was left out. */
function verdicts({ alone, streamed, footprint, memory }: Figures): Record<string, boolean | null> {
  const { busy } = footprint;
  return {
    "added p50 under 3 ms, one stream": (alone.ours["addedP50Ms"] ?? Infinity) < 3,
    "added p99 under 15 ms, one stream": (alone.ours["addedP99Ms"] ?? Infinity) < 15,
    "no loss with 50 streams": streamed.ours.lost === 0,
    "p99 at most twice the direct call's, 50 streams": (streamed.ours["p99Ratio"] ?? Infinity) <= 2,
    "memory flat over 1 GB": isFlat(memory.rssByQuarterMb),
    "faster than LiteLLM, one stream": isLess(alone.ours.totalP50Ms, alone.litellm?.totalP50Ms),
    "faster than LiteLLM, 50 streams": isLess(
      streamed.ours.totalP99Ms,
      streamed.litellm?.totalP99Ms,
    ),
    "at most a fifth of LiteLLM's memory (proportional set)":
      busy.litellm === null ? null : busy.ours.pssMb * 5 <= busy.litellm.pssMb,
  };
}

/** The last quarter is no more than a tenth above the second one; the first one fills buffers. */
function isFlat([, second = 0, , last = Infinity]: readonly number[]): boolean {
  return last <= second * 1.1;
}

function isLess(mine: number, theirs: number | undefined): boolean | null {
  return theirs === undefined ? null : mine < theirs;
}

function report(figures: Record<string, unknown>): void {
  const text = JSON.stringify(figures, null, 2);
  writeFileSync(new URL("results/proxy.json", import.meta.url), `${text}\n`);
  console.log(text);
}
