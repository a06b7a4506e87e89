import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { createServer, connect, type Server } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type OrdinaryUser, makeOrdinaryUser } from "../setup/ordinary-user.ts";
import { BENCH } from "./run-bench.ts";

const EXAMPLES = fileURLToPath(new URL("../../examples/tasks", import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

describe("bench for an ordinary user", () => {
  let user: OrdinaryUser;
  let main: string;

  beforeAll(() => {
    user = makeOrdinaryUser();
    // A checkout of root's may be out of the user's reach.
    cpSync(join(BENCH, "../.."), join(user.home, "dist"), { recursive: true });
    main = join(user.home, "dist/cli/main.js");
    cpSync(EXAMPLES, join(user.home, "tasks"), { recursive: true });
    execFileSync("chown", ["-R", user.name, user.home]);
  });

  afterAll(() => {
    user.remove();
  });

  function start(
    args: readonly string[],
    env = {},
  ): { child: ChildProcess; ended: Promise<Ended> } {
    const [first, ...words] = user.behind({ cgroups: false });
    const child = spawn(first, [...words, process.execPath, main, ...args], {
      cwd: user.home,
      env: { ...user.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk));
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
    const ended = new Promise<Ended>((resolve) => {
      child.once("close", (code) => {
        resolve({ code, stdout, stderr });
      });
    });
    return { child, ended };
  }

  const bench = async (args: readonly string[], env = {}): Promise<Ended> =>
    await start(args, env).ended;

  /** Processes of the user, and of the ids that are subordinate to it, that have not ended. */
  function processes(): string[] {
    const range = /:(\d+):(\d+)$/mu.exec(
      readFileSync("/etc/subuid", "utf8")
        .split("\n")
        .find((line) => line.startsWith(`${user.name}:`)) ?? "",
    );
    const from = Number(range?.[1]);
    const isTheirs = (uid: number): boolean =>
      uid === user.uid || (uid >= from && uid < from + Number(range?.[2]));
    return execFileSync("ps", ["-eo", "uid=,stat=,args="], { encoding: "utf8" })
      .split("\n")
      .filter((line) => isTheirs(Number(line.trim().split(/\s+/u)[0])))
      .filter((line) => !/^\s*\d+ Z/u.test(line));
  }

  async function untilNoProcess(): Promise<void> {
    for (let tries = 0; tries < 100 && processes().length > 0; tries += 1) await sleep(100);
    expect(processes()).toEqual([]);
  }

  test("says what of local sandboxes works and what does not", async () => {
    const { code, stdout } = await bench(["doctor"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^✓ --env local: /mu);
    for (const limit of ["memory", "processor", "process", "disk"])
      expect(stdout).toMatch(
        new RegExp(`^✗ --env local, ${limit} limit: missing\n  next: run `, "mu"),
      );
  });

  test("runs the examples with each control, says what is not limited, and leaves nothing", async () => {
    const flags = ["--env", "local", "-j", "3", "-i", "hello-file", "-i", "csv-totals"];
    const oracle = await bench(["run", "tasks", "-a", "oracle", ...flags, "-o", "jobs"]);
    expect(oracle.stderr).toContain(
      "warning: --env local cannot limit memory, cpu, pids, disk here",
    );
    expect(oracle.stdout).toContain("Score: 2/2 (100.0%)");
    const nop = await bench(["run", "tasks", "-a", "nop", ...flags, "-o", "nop-jobs"]);
    expect(nop.stdout).toContain("Score: 0/2 (0.0%)");
    expect((await bench(["sandbox", "list"])).stdout).toBe("no sandboxes\n");
    const owners = readdirSync(join(user.home, "jobs"), { recursive: true, encoding: "utf8" }).map(
      (name) => statSync(join(user.home, "jobs", name)).uid,
    );
    expect(new Set(owners)).toEqual(new Set([user.uid]));
    await untilNoProcess();
  });

  test("ends cleanly on one interrupt, with its sandboxes", async () => {
    const { child, ended } = start(["run", "tasks", "-a", "oracle", "--env", "local", "-o", "cut"]);
    await untilSandbox();
    child.kill("SIGINT");
    expect((await ended).code).toBe(130);
    expect((await bench(["sandbox", "list"])).stdout).toBe("no sandboxes\n");
    await untilNoProcess();
  });

  test("leaves no process when it is killed, and the next commands find and remove the rest", async () => {
    const args = ["run", "tasks", "-a", "oracle", "--env", "local", "-j", "3", "-o", "killed"];
    const { child, ended } = start(args);
    await untilSandbox();
    child.kill("SIGKILL");
    await ended;
    await untilNoProcess();
    const pruned = await bench(["sandbox", "prune"]);
    expect(pruned.stderr).toMatch(/^[1-9]\d* sandboxes removed$/mu);
    expect((await bench(["sandbox", "list"])).stdout).toBe("no sandboxes\n");
    const resumed = await bench(args);
    expect(resumed.stdout).toContain("Score: 6/6 (100.0%)");
  });

  async function untilSandbox(): Promise<void> {
    const dir = join(user.home, ".cache/benchflow-cloud/sandboxes");
    while (!existsSync(dir) || readdirSync(dir).length === 0) await sleep(20);
    await sleep(200);
  }

  test("runs on a Docker daemon whose socket the user may open", async ({ skip }) => {
    const host = process.env["DOCKER_HOST"]?.replace("unix://", "");
    if (host === undefined) skip("no daemon was started");
    const socket = join(user.home, "docker.sock");
    const relay = await relaySocket(socket, host ?? "");
    execFileSync("chown", [user.name, socket]);
    try {
      const flags = ["-a", "oracle", "--env", "docker", "-i", "hello-file", "-o", "docker-jobs"];
      const run = await bench(["run", "tasks", ...flags], { DOCKER_HOST: `unix://${socket}` });
      expect(run.stdout, run.stderr).toContain("Score: 1/1 (100.0%)");
    } finally {
      relay.close();
    }
  });
});

/** The daemon's own socket may lie where only root can look. */
async function relaySocket(path: string, target: string): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const daemon = connect({ path: target, allowHalfOpen: true });
    client.pipe(daemon).on("error", () => client.destroy());
    daemon.pipe(client).on("error", () => daemon.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(path, resolve);
  });
  return server;
}
