import { execFile, execFileSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { BENCH, type BenchOptions, type BenchRun, runBench, scratchDir } from "../e2e/run-bench.ts";
import { makeOrdinaryUser } from "../setup/ordinary-user.ts";

const TASKS = fileURLToPath(new URL("tasks", import.meta.url));

const Found = z.object({ path: z.string(), contains: z.string() });

/** Addresses that this suite gave the loopback device, to be taken back. */
const added: string[] = [];

const Reward = z.union([z.literal(0), z.literal("unscored"), z.literal(1)]);

/** What must hold after an attack: its reward, what it left for a reader, what must not be there. */
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
  { env: "local", who: "this user", canRun: isRoot, why: "local sandboxes need root" },
  // Without a cgroup: what the weakest of local sandboxes holds, the others hold too.
  { env: "local", who: "an ordinary user", canRun: isRoot, why: "only root makes a user" },
  {
    env: "docker",
    who: "this user",
    canRun: process.env["DOCKER_HOST"] !== undefined,
    why: "no daemon was started",
  },
] as const;

/** Every fifth attack and none that needs a partner: what an ordinary user's run tries outside of a soak. */
const SAMPLE = new Set(
  [...attacks.keys()].toSorted().filter((name, index) => {
    return index % 5 === 0 && attacks.get(name)?.together_with === undefined;
  }),
);

const isLeftOut = (who: string, attack: string): boolean =>
  who === "an ordinary user" && !SAMPLE.has(attack) && process.env["BENCH_TEST_SOAK"] === undefined;

describe.each(BACKENDS)("attacks on --env $env as $who", ({ env, who, canRun, why }) => {
  const servers: Server[] = [];
  let dir: { readonly path: string } & AsyncDisposable;
  let runAs: RunAs = runBench;
  const runs = new Map<string, BenchRun>();

  beforeAll(async () => {
    if (!canRun) return;
    if (who === "an ordinary user") ({ dir, runAs } = userPlace());
    else dir = await scratchDir();
    for (const { host_service: service } of attacks.values())
      if (service !== undefined) servers.push(await serveOnHost(service));
    for (const agent of ["script", "oracle"] as const) {
      const names = [...attacks].filter(
        ([name, attack]) => attack.agent === agent && !isLeftOut(who, name),
      );
      runs.set(
        agent,
        await attackAll(
          { env, runAs, cwd: dir.path },
          agent,
          names.map(([name]) => name),
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
      if (isLeftOut(who, name)) skip("as an ordinary user with --soak only");
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

type RunAs = (args: readonly string[], options: BenchOptions) => Promise<BenchRun>;

/** The home of a new user with the attacks in it, and `bench` as that user: a checkout may be out of its reach. */
function userPlace(): { dir: { readonly path: string } & AsyncDisposable; runAs: RunAs } {
  const user = makeOrdinaryUser();
  const main = join(user.home, "dist/cli/main.js");
  cpSync(join(BENCH, "../.."), join(user.home, "dist"), { recursive: true });
  cpSync(TASKS, join(user.home, "tasks"), { recursive: true });
  execFileSync("chown", ["-R", user.name, user.home]);
  return {
    dir: {
      path: user.home,
      [Symbol.asyncDispose]: async () => await Promise.resolve(user.remove()),
    },
    runAs: async ([command = "", , ...flags], options) => {
      const [first, ...words] = user.behind({ cgroups: false });
      const argv = [...words, process.execPath, main, command, "tasks", ...flags];
      const env = { ...user.env, BENCHFLOW_STATE_DIR: options.stateDir ?? "" };
      return await new Promise<BenchRun>((resolve) => {
        execFile(first, argv, { cwd: user.home, env }, (error, stdout, stderr) => {
          resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
        });
      });
    },
  };
}

async function attackAll(
  { env, runAs, cwd }: { readonly env: string; readonly runAs: RunAs; readonly cwd: string },
  agent: string,
  names: readonly string[],
): Promise<BenchRun> {
  const include = names.flatMap((name) => ["-i", name]);
  const flags = `-a ${agent} --env ${env} -j 3 --retry-attempts 0 -o jobs/${agent}`.split(" ");
  return await runAs(["run", TASKS, ...flags, ...include], {
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

/** Fails for a file that is not there: what it lacks would prove nothing. */
async function readLossy(path: string): Promise<string> {
  return new TextDecoder().decode(await readFile(path));
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
