import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { type BenchRun, runBench, scratchDir } from "../e2e/run-bench.ts";

const TASKS = fileURLToPath(new URL("tasks", import.meta.url));

const Found = z.object({ path: z.string(), contains: z.string() });

/** Addresses that this suite gave the loopback device, to be taken back. */
const added: string[] = [];

/** What must hold after an attack: its reward, what it left for a reader, what must not be there. */
const Reward = z.union([z.literal(0), z.literal("unscored"), z.literal(1)]);

const Shape = z.object({
  attack: z.string(),
  agent: z.enum(["script", "oracle"]),
  /** An attack that nothing can stop may have its 1, where it says why and leaves the trial suspect. */
  reward: z.union([z.literal(0), z.array(Reward)]),
  evidence: z.array(Found).min(1),
  absent: z.array(Found),
  why: z.string().optional(),
  host_service: z.object({ address: z.string(), port: z.int(), says: z.string() }).optional(),
  max_files: z.record(z.string(), z.int()).optional(),
  max_bytes: z.record(z.string(), z.int()).optional(),
  together_with: z.string().optional(),
});
const Expectation = Shape.refine(
  ({ reward, why, evidence }) =>
    ![reward].flat().includes(1) ||
    (why !== undefined && evidence.some(({ contains }) => contains.includes('"suspect"'))),
  "a reward of 1 needs its reason, and the evidence that the trial is suspect",
);
type Expectation = z.infer<typeof Expectation>;

const attacks = new Map(
  readdirSync(TASKS).map((name) => [
    name,
    Expectation.parse(JSON.parse(readFileSync(join(TASKS, name, "expect.json"), "utf8"))),
  ]),
);

const isRoot = process.getuid?.() === 0;
const BACKENDS = [
  { env: "local", canRun: isRoot, why: "local sandboxes need root" },
  { env: "docker", canRun: process.env["DOCKER_HOST"] !== undefined, why: "no daemon was started" },
] as const;

describe.each(BACKENDS)("attacks on --env $env", ({ env, canRun, why }) => {
  const servers: Server[] = [];
  let dir: Awaited<ReturnType<typeof scratchDir>>;
  const runs = new Map<string, BenchRun>();

  beforeAll(async () => {
    if (!canRun) return;
    dir = await scratchDir();
    for (const { host_service: service } of attacks.values())
      if (service !== undefined) servers.push(await serveOnHost(service));
    for (const agent of ["script", "oracle"] as const) {
      const names = [...attacks].filter(([, attack]) => attack.agent === agent);
      runs.set(
        agent,
        await attackAll(
          env,
          agent,
          names.map(([name]) => name),
          dir.path,
        ),
      );
    }
  }, 900_000);

  afterAll(async () => {
    for (const server of servers) server.close();
    for (const address of added.splice(0))
      execFileSync("ip", ["addr", "del", `${address}/32`, "dev", "lo"]);
    if (canRun) await dir[Symbol.asyncDispose]();
  });

  test.for([...attacks])(
    "%s gets nothing it did not earn, and leaves evidence",
    async ([name, attack], { skip }) => {
      if (!canRun) skip(why);
      const attempt = await attemptOf(join(dir.path, "jobs", attack.agent), name, runs);
      const result = z
        .looseObject({ rewards: z.looseObject({ reward: z.number() }).nullable() })
        .parse(JSON.parse(await readFile(join(attempt, "result.json"), "utf8")));
      const reward = result.rewards === null ? "unscored" : result.rewards.reward;
      expect([attack.reward].flat()).toContain(reward);
      for (const { path, contains } of attack.evidence)
        expect(await readLossy(join(attempt, path))).toContain(contains);
      for (const { path, contains } of attack.absent)
        expect(await readLossy(join(attempt, path))).not.toContain(contains);
      for (const [path, most] of Object.entries(attack.max_files ?? {}))
        expect(
          (await readdir(join(attempt, path), { recursive: true })).length,
        ).toBeLessThanOrEqual(most);
      for (const [path, most] of Object.entries(attack.max_bytes ?? {}))
        expect((await stat(join(attempt, path))).size).toBeLessThanOrEqual(most);
    },
  );
});

async function attackAll(
  env: string,
  agent: string,
  names: readonly string[],
  cwd: string,
): Promise<BenchRun> {
  const include = names.flatMap((name) => ["-i", name]);
  const flags = `-a ${agent} --env ${env} -j 3 --retry-attempts 0 -o jobs/${agent}`.split(" ");
  return await runBench(["run", TASKS, ...flags, ...include], {
    cwd,
    stateDir: join(cwd, "state"),
  });
}

async function attemptOf(
  jobs: string,
  task: string,
  runs: ReadonlyMap<string, BenchRun>,
): Promise<string> {
  const said = [...runs.values()].map(({ stderr }) => stderr).join("\n");
  const [job] = await readdir(jobs).catch(() => []);
  expect(job, said).toBeDefined();
  const attempts = (await readdir(join(jobs, job ?? ""))).filter((each) =>
    each.startsWith(`${task}__`),
  );
  expect(attempts, said).toHaveLength(1);
  return join(jobs, job ?? "", attempts[0] ?? "");
}

async function readLossy(path: string): Promise<string> {
  return new TextDecoder().decode(await readFile(path).catch(() => new Uint8Array()));
}

/** A service of this machine that no sandbox may reach: on its loopback, or where clouds hand out keys. */
async function serveOnHost({
  address,
  port,
  says,
}: NonNullable<Expectation["host_service"]>): Promise<Server> {
  if (!address.startsWith("127.")) {
    const addresses = execFileSync("ip", ["-o", "addr", "show", "dev", "lo"], { encoding: "utf8" });
    if (!addresses.includes(address)) {
      execFileSync("ip", ["addr", "add", `${address}/32`, "dev", "lo"]);
      added.push(address);
    }
  }
  const server = createServer((_, response) => response.end(says));
  return await new Promise((resolve, reject) => {
    server.on("error", reject);
    server.listen(port, address, () => resolve(server));
  });
}
