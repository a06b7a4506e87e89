/**
 * What the model proxy costs: its added latency at 64 kB bodies, alone and with 50 streams at once
 * (at a model's pace, and as fast as both ends can), and its memory while 1 GB flows through it. Provider and clients are processes of their own, so that
 * the figures are the proxy's. Prints one JSON object and
 * keeps it as results/proxy.json; ends after two minutes at the latest.
 *
 *   npm run bench:proxy
 */
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../host/system-clock.ts";
import { createHttpUpstream } from "../../runner/proxy/http-upstream.ts";
import { startModelProxy } from "../../runner/proxy/model-proxy.ts";
import type { Job, Timing } from "./proxy-load.ts";

const WARM_UP = 60;
const SEQUENTIAL = 400;
const STREAMS = 50;
const PER_STREAM = 8;
const FLOW_BYTES = 1024 * 1024 * 1024;
const FLOW_STREAMS = 4;
/** Twenty events in 300 ms: a fast model. */
const PAUSE_MS = 15;
const LIMIT_MS = 120_000;

await measure();

/** So many requests on so many connections. */
function load(requests: number, parallel: number, { flowBytes = 0, pauseMs = 0 } = {}): Shape {
  return { requests, parallel, flowBytes, pauseMs };
}

async function measure(): Promise<void> {
  const deadline = setTimeout(() => {
    console.error(`not done within ${LIMIT_MS} ms`);
    process.exit(1);
  }, LIMIT_MS);
  const provider = child("provider");
  const [{ port }] = (await once(provider, "message")) as [{ port: number }];
  const client = child("client");
  await once(client, "message");
  const direct = `http://127.0.0.1:${port}`;
  const proxy = await startModelProxy({
    listen: { kind: "tcp" },
    upstreams: [
      createHttpUpstream({
        provider: "bench",
        protocol: "anthropic-messages",
        baseUrl: direct,
        credential: async () => ({ header: "x-api-key", value: "provider-key-1234" }),
      }),
    ],
    models: { clientModel: "m", upstreamModel: "m", aliases: [] },
    modelLimits: { contextTokens: null, maxOutputTokens: null },
    maxOutputTokens: null,
    prices: { find: () => null },
    gate: { reserve: async () => ({ kind: "lease", lease: { id: "0" } }), settle: async () => {} },
    sink: { write: () => {} },
    clock: systemClock,
    secrets: ["provider-key-1234"],
  });
  const through = { origin: proxy.address, token: proxy.token };
  const plain = { origin: direct, token: "x" };
  await ask(client, { ...plain, ...load(WARM_UP, 1) });
  await ask(client, { ...through, ...load(WARM_UP, 1) });
  const alone = await compare(client, [plain, through], load(SEQUENTIAL, 1));
  const atOnce = await compare(client, [plain, through], load(PER_STREAM, STREAMS));
  const streamed = await compare(
    client,
    [plain, through],
    load(PER_STREAM, STREAMS, { pauseMs: PAUSE_MS }),
  );
  const memory = await flowThrough(client, {
    ...through,
    ...load(1, FLOW_STREAMS, { flowBytes: FLOW_BYTES / FLOW_STREAMS }),
  });
  const text = JSON.stringify({ ...about(), alone, streamed, atOnce, memory }, null, 2);
  writeFileSync(new URL("results/proxy.json", import.meta.url), `${text}\n`);
  console.log(text);
  clearTimeout(deadline);
  await proxy.close();
  provider.kill();
  client.kill();
}

/** When and where; a load above the number of cores says that the times are other work's too. */
function about(): object {
  return {
    bench: "proxy",
    measured_at: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} cores, Node.js ${process.version}`,
    load: rounded(loadavg()[0] ?? 0),
  };
}

function child(role: string): ChildProcess {
  return fork(fileURLToPath(new URL("proxy-load.ts", import.meta.url)), [role]);
}

async function ask(client: ChildProcess, job: Job): Promise<Timing[]> {
  client.send(job);
  const [timings] = (await once(client, "message")) as [Timing[]];
  return timings;
}

type Shape = Pick<Job, "requests" | "parallel" | "flowBytes" | "pauseMs">;
type Target = Pick<Job, "origin" | "token">;

/** Both ways in turns, so that the machine's other work falls on both. */
async function compare(
  client: ChildProcess,
  [plain, through]: [Target, Target],
  shape: Shape,
): Promise<object> {
  const rounds = 4;
  const part = { ...shape, requests: Math.max(1, Math.floor(shape.requests / rounds)) };
  const directly: Timing[] = [];
  const proxied: Timing[] = [];
  let cpuMs = 0;
  for (let round = 0; round < rounds; round += 1) {
    directly.push(...(await ask(client, { ...plain, ...part })));
    const cpu = process.cpuUsage();
    proxied.push(...(await ask(client, { ...through, ...part })));
    const { user, system } = process.cpuUsage(cpu);
    cpuMs += (user + system) / 1000;
  }
  const left = percentiles(directly);
  const right = percentiles(proxied);
  return {
    streams: shape.parallel,
    requests: proxied.length,
    direct: left,
    proxied: right,
    // Of the proxy alone; unlike the times, other work on the machine does not change it much.
    proxyCpuMsPerRequest: rounded(cpuMs / proxied.length),
    addedP50Ms: rounded(right.totalP50Ms - left.totalP50Ms),
    addedP99Ms: rounded(right.totalP99Ms - left.totalP99Ms),
    p99Ratio: rounded(right.totalP99Ms / left.totalP99Ms),
  };
}

function percentiles(
  timings: readonly Timing[],
): Record<"firstByteP50Ms" | "firstByteP99Ms" | "totalP50Ms" | "totalP99Ms", number> {
  const first = timings.map(({ firstByteMs }) => firstByteMs).toSorted((a, b) => a - b);
  const total = timings.map(({ totalMs }) => totalMs).toSorted((a, b) => a - b);
  return {
    firstByteP50Ms: rounded(at(first, 0.5)),
    firstByteP99Ms: rounded(at(first, 0.99)),
    totalP50Ms: rounded(at(total, 0.5)),
    totalP99Ms: rounded(at(total, 0.99)),
  };
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** The proxy's resident memory while bytes flow, and how fast they do. */
async function flowThrough(client: ChildProcess, job: Job): Promise<object> {
  const samplesMb: number[] = [];
  const startMb = process.memoryUsage().rss / 1e6;
  const sampling = setInterval(() => samplesMb.push(process.memoryUsage().rss / 1e6), 50);
  const startMs = performance.now();
  const timings = await ask(client, job);
  const seconds = (performance.now() - startMs) / 1000;
  clearInterval(sampling);
  const half = samplesMb.slice(Math.floor(samplesMb.length / 2));
  const firstHalf = samplesMb.slice(0, Math.floor(samplesMb.length / 2));
  const bytes = timings.reduce((sum, timing) => sum + timing.bytes, 0);
  return {
    bytes,
    megabytesPerSec: rounded(bytes / 1e6 / seconds),
    rssStartMb: rounded(startMb),
    rssPeakFirstHalfMb: rounded(Math.max(...firstHalf)),
    rssPeakSecondHalfMb: rounded(Math.max(...half)),
  };
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
