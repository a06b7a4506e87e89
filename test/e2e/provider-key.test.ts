import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { startModelServer } from "../fakes/model-server/start-model-server.ts";
import {
  PROVIDER_KEY,
  providerEnv,
  startModelBench,
  TURN,
  writeModelTask,
  writePrices,
} from "./model-run.ts";
import { scratchDir } from "./run-bench.ts";
import { contentOf, filesBelow, spellings } from "./secret-search.ts";

/** Everything that the agent can read and reach, laid into its workspace, which the run saves. */
const LOOT = `
{ env; tr '\\0' '\\n' < /proc/self/environ
  for f in /proc/[0-9]*/environ /proc/[0-9]*/cmdline /proc/[0-9]*/maps /proc/net/*; do cat "$f"; done
  find /tmp /etc /opt /home /root /run /var/tmp /app /logs -xdev -type f -size -200k -exec cat {} +
  for p in / /v1/models /v1/nothing /proc/self/environ '/?key=x' /.env; do
    perl -e 'use IO::Socket::INET; my ($h, $p) = $ENV{BENCH_MODEL_ORIGIN} =~ m{//(.*):(\\d+)};
      for my $auth ("Bearer $ENV{BENCH_MODEL_TOKEN}", "Bearer sk-benchflow-of-another-trial", "") {
        my $s = IO::Socket::INET->new(PeerAddr => $h, PeerPort => $p) or next;
        print $s "GET $ARGV[0] HTTP/1.1\\r\\nhost: x\\r\\nauthorization: $auth\\r\\nconnection: close\\r\\n\\r\\n"; print <$s>; }' "$p"
  done
} > /app/loot 2>/dev/null || true`;

function readOf(pid: string | number, file: string): string {
  try {
    return readFileSync(`/proc/${String(pid)}/${file}`, "latin1");
  } catch {
    // A process that has ended holds nothing.
    return "";
  }
}

/**
 * Who else than this test and the command itself has a text in its command line or its environment. A
 * child that has not become its program yet is the command still.
 */
function holders(texts: readonly string[], command: number): string[] {
  const own = readOf(command, "cmdline");
  return readdirSync("/proc")
    .filter((name) => /^\d+$/u.test(name) && ![process.pid, command].includes(Number(name)))
    .flatMap((pid) => {
      const [argv, env] = [readOf(pid, "cmdline"), readOf(pid, "environ")];
      const isHeld =
        argv !== own && texts.some((text) => argv.includes(text) || env.includes(text));
      return isHeld && readOf(pid, "cmdline") === argv ? [argv.replaceAll("\0", " ")] : [];
    });
}

test("C-58: the provider's key is in no file, no process and no log, however it is spelled", async () => {
  await using scratch = await scratchDir();
  const { path } = scratch;
  // Nobody else's on this machine.
  const key = PROVIDER_KEY + randomBytes(8).toString("hex");
  await writeModelTask(join(path, "tasks", "thief"), { calls: 3, before: LOOT });
  await writePrices(join(path, "prices.json"));
  // A provider that repeats the key in what it complains of.
  const message = `bad key ${key} (${Buffer.from(key).toString("base64")})`;
  const server = await startModelServer({
    turns: [TURN],
    faults: [{ kind: "status", on: "any", status: 400, message, times: 1 }],
  });
  try {
    const texts = spellings(key);
    const args = ["--save-outputs", "--retry-attempts", "0"];
    const env = { ...providerEnv(server), XIAOMI_API_KEY: key };
    const running = startModelBench({ cwd: path, env, args });
    const over = new AbortController();
    const finished = running.ended.finally(() => over.abort());
    const seen = new Set<string>();
    let looks = 0;
    while (!over.signal.aborted) {
      for (const holder of holders(texts, running.pid ?? 0)) seen.add(holder);
      looks += 1;
      await sleep(20);
    }
    const run = await finished;
    expect(run.code, run.stderr).toBe(0);
    expect(server.modelRequests()[0]?.headers.authorization).toBe(`Bearer ${key}`);
    expect(looks).toBeGreaterThan(10);
    expect([...seen]).toEqual([]);

    const printed = run.stdout + run.stderr;
    expect(texts.filter((text) => printed.includes(text))).toEqual([]);
    const files = filesBelow(join(path, "jobs"));
    const leaks = files.filter((file) => {
      const content = contentOf(file);
      return texts.some((text) => content.includes(text));
    });
    expect(leaks).toEqual([]);
    // The search reads what the agent took: its own token is there, and its loot is no small one.
    const evidence = files.filter((file) => file.includes("/evidence/"));
    expect(
      evidence.some((file) => contentOf(file).includes("BENCH_MODEL_TOKEN=sk-benchflow-")),
    ).toBe(true);
    expect(evidence.reduce((sum, file) => sum + statSync(file).size, 0)).toBeGreaterThan(1000);
  } finally {
    await server.close();
  }
});
