// What a docker sandbox costs over the bare calls that do the same work, on one daemon, in alternating
// rounds: create, start, put tests, exec solve, exec tests, get logs, remove. Prints JSON.
//
//   npx tsx test/bench/docker-raw.ts [rounds]
import { request } from "node:http";
import type { PreparedImage, Sandbox } from "../../core/ports/sandbox.ts";
import type { TarHeader } from "../../core/tar/tar-entry.ts";
import { writeTar } from "../../core/tar/write-tar.ts";
import { identifyProcess } from "../../host/process-identity.ts";
import { DockerSandboxes } from "../../sandboxes/docker/docker-sandboxes.ts";
import { RawEngine } from "../sandboxes/docker/raw-engine.ts";
import { dockerHost } from "../setup/docker-host.ts";

const SOLVE = "mkdir -p /app /logs && echo done > /app/answer";
const TESTS = "sh /tests/test.sh";
const TEST_SCRIPT = "grep -q done /app/answer && mkdir -p /logs && echo 1 > /logs/reward.txt\n";
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const IMAGE = "bench-base:debian";
const LIMITS = { cpus: 2, memoryMb: 1024, storageMb: 1024, pids: 256 };
const OWNER = {
  runId: "bench",
  jobName: "bench",
  rolloutName: "bench__00000000",
  process: identifyProcess(),
  leaseMs: 600_000,
};

const rounds = Number(process.argv[2] ?? 15);
const host = dockerHost();
const raw = new RawEngine(host);
const backend = await DockerSandboxes.connect({ env: { DOCKER_HOST: host } });
const signal = new AbortController().signal;
const image = await backend.prepare({
  source: { kind: "prebuilt", reference: IMAGE },
  contextDir: "/nonexistent",
  baseImageMap: {},
  timeoutMs: 60_000,
  limits: LIMITS,
  owner: OWNER,
  signal,
  onLine: () => undefined,
});

const times: Record<string, number[]> = {};
for (let round = 0; round < rounds; round += 1) {
  await timed("raw_none", () => rawTrial("none"));
  await timed("sandbox_closed", () => sandboxTrial(image, "closed", false));
  await timed("sandbox_closed_whole_trial", () => sandboxTrial(image, "closed", true));
  await timed("raw_bridge", () => rawTrial("bridge"));
  await timed("sandbox_public", () => sandboxTrial(image, "public", false));
}
await backend.close();

const medians = Object.fromEntries(
  Object.entries(times).map(([name, list]) => [name, Math.round(median(list))]),
);
const over = (name: string, base: string): number => (medians[name] ?? 0) - (medians[base] ?? 0);
console.log(
  JSON.stringify({
    rounds,
    docker: backend.probe().version,
    median_ms: medians,
    over_raw_ms: {
      closed: over("sandbox_closed", "raw_none"),
      closed_whole_trial: over("sandbox_closed_whole_trial", "raw_none"),
      public: over("sandbox_public", "raw_bridge"),
    },
  }),
);

async function timed(name: string, work: () => Promise<void>): Promise<void> {
  const started = performance.now();
  await work();
  (times[name] ??= []).push(performance.now() - started);
}

async function rawTrial(network: string): Promise<void> {
  const created = await raw.call("POST", "/containers/create", {
    Image: IMAGE,
    Cmd: ["sleep", "infinity"],
    HostConfig: { NetworkMode: network },
  });
  const { Id } = created as { Id: string };
  await raw.call("POST", `/containers/${Id}/start`);
  await rawExec(Id, SOLVE);
  await raw.call("PUT", `/containers/${Id}/archive?path=/`, await archive("tests/test.sh"));
  await rawExec(Id, TESTS);
  await raw.call("GET", `/containers/${Id}/archive?path=/logs`);
  await raw.call("DELETE", `/containers/${Id}?force=1&v=1`);
}

/** Create, start with the streams attached, read to the end, ask for the exit code. */
async function rawExec(id: string, script: string): Promise<void> {
  const created = await raw.call("POST", `/containers/${id}/exec`, {
    Cmd: ["/bin/sh", "-c", script],
    AttachStdout: true,
    AttachStderr: true,
  });
  const exec = (created as { Id: string }).Id;
  await new Promise<void>((resolve, reject) => {
    const sent = request({
      socketPath: host.replace("unix://", ""),
      method: "POST",
      path: `/exec/${exec}/start`,
      headers: { "content-type": "application/json", connection: "Upgrade", upgrade: "tcp" },
    });
    sent.on("upgrade", (_, socket) => socket.resume().on("close", resolve));
    sent.on("error", reject);
    sent.end(JSON.stringify({ Detach: false, Tty: false }));
  });
  const inspected = (await raw.call("GET", `/exec/${exec}/json`)) as { ExitCode: number };
  if (inspected.ExitCode !== 0) throw new Error(`${script}: ${String(inspected.ExitCode)}`);
}

/** With `whole`, also what a trial does besides: set-up scripts, proofs of dead processes, statistics. */
async function sandboxTrial(
  prepared: PreparedImage,
  network: "closed" | "public",
  whole: boolean,
): Promise<void> {
  const asked = { image: prepared, owner: OWNER, limits: LIMITS, network, env: {}, signal };
  const sandbox = await backend.create(asked);
  if (whole) {
    for (let script = 0; script < 4; script += 1) await run(sandbox, "find /etc -type f | wc -l");
    await sandbox.mark();
  }
  await run(sandbox, SOLVE);
  if (whole && (await sandbox.killUser(10_001)) !== 0) throw new Error("agent left");
  await sandbox.put(toStream(await archive("test.sh")), "/tests");
  const mark = whole ? await sandbox.mark() : null;
  await run(sandbox, TESTS);
  if (mark !== null && (await sandbox.killSince(mark)) !== 0) throw new Error("tests left");
  for await (const chunk of sandbox.get("/logs")) void chunk;
  if (whole) await sandbox.stats();
  await sandbox.destroy();
}

async function run(sandbox: Sandbox, script: string): Promise<void> {
  const done = await sandbox.exec({
    argv: ["/bin/sh", "-c", script],
    uid: 0,
    cwd: "/",
    env: { PATH },
    timeoutMs: 60_000,
  });
  if (done.exitCode !== 0) throw new Error(`${script}: ${String(done.exitCode)}`);
}

async function archive(name: string): Promise<Buffer> {
  const content = Buffer.from(TEST_SCRIPT);
  const header: TarHeader = {
    kind: "file",
    name: Buffer.from(name),
    mode: 0o755,
    uid: 0,
    gid: 0,
    sizeBytes: content.byteLength,
    mtimeSeconds: 0,
    linkName: new Uint8Array(),
  };
  const chunks: Uint8Array[] = [];
  for await (const chunk of writeTar([{ header, content: [content] }])) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function* toStream(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}

function median(list: readonly number[]): number {
  const sorted = list.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
