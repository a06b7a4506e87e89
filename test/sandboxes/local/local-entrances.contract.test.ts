import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../../../core/ports/sandbox.ts";
import { entranceOf } from "../../../sandboxes/local/command/enter-sandbox.ts";
import { DIR_VARIABLE } from "../../../sandboxes/local/start-supervisor.ts";
import {
  allPids,
  argumentsOf,
  groupsOf,
  seeProcess,
  variablesOf,
} from "../../../sandboxes/processes.ts";
import { type OpenLocal, openLocal, run } from "./open-local.ts";

/** What root inside holds: Docker's default capabilities less MKNOD and NET_RAW. */
const HELD = "00000000a00405fb";
const NONE = "0000000000000000";

interface Seen {
  readonly code: number | null;
  readonly out: string;
  readonly words: string;
}

describe.each([
  { name: "the program that loads the filter", seccomp: true },
  { name: "util-linux and coreutils alone", seccomp: false },
])("a command that comes in by $name", ({ seccomp }) => {
  let local: OpenLocal;
  let sandbox: Sandbox;
  let supervisorPid: number;

  beforeAll(async () => {
    local = await openLocal();
    sandbox = await local.create();
    const dir = `${DIR_VARIABLE}=${local.stateDir}/sandboxes/${sandbox.id}`;
    const inside = allPids().filter((pid) => variablesOf(pid).includes(dir));
    supervisorPid = inside.find((pid) => seeProcess(pid)?.depth === 1) ?? 0;
  });

  afterAll(async () => {
    await local.close();
  });

  function enter(uid: number, argv: readonly [string, ...string[]], cwd = "/tmp"): Seen {
    const env = { PATH: "/usr/bin:/bin", EMPTY: "", LINES: "one\n two", LD_BIND_NOW: "1" };
    const group = { joinFiles: [], entering: { before: [], options: [], words: [] } };
    const entrance = entranceOf({ argv, uid, cwd, env }, { supervisorPid, group, seccomp });
    const [program, ...args] = entrance.argv;
    const stdio: "pipe"[] = ["pipe", "pipe", "pipe", "pipe"];
    const ran = spawnSync(program, args, { env: entrance.env, cwd: "/", stdio });
    return { code: ran.status, out: ran.stdout.toString(), words: String(ran.output[3]) };
  }

  test.each([
    { uid: 0, held: HELD, noNewPrivs: 0 },
    { uid: 10_001, held: NONE, noNewPrivs: 1 },
  ])("has the rights of uid $uid and no others", ({ uid, held, noNewPrivs }) => {
    const { out, words } = enter(uid, ["cat", "/proc/self/status"]);
    expect(words).toBe("go\n");
    const facts = new Map(
      out.split("\n").map((line) => [line.split(":")[0], line.split(":\t")[1]]),
    );
    const ids = [uid, uid, uid, uid].join("\t");
    expect([facts.get("Uid"), facts.get("Gid"), facts.get("Groups")?.trim()]).toEqual([
      ids,
      ids,
      "",
    ]);
    const sets = ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"].map((name) => facts.get(name));
    expect(sets).toEqual([NONE, held, held, HELD, NONE]);
    expect(facts.get("NoNewPrivs")).toBe(String(noNewPrivs));
    expect(facts.get("Seccomp")).toBe(seccomp ? "2" : "0");
    expect(facts.get("Umask")).toBe("0022");
  });

  test("has its own variables, its own folder and no open file of the host", () => {
    const { out } = enter(0, ["env"]);
    expect(out.split("\n").toSorted().join("|")).toBe(
      "| two|EMPTY=|LD_BIND_NOW=1|LINES=one|PATH=/usr/bin:/bin",
    );
    const places = "readlink /proc/self/cwd /proc/self/root; ls /proc/$$/fd";
    expect(enter(10_001, ["sh", "-c", places]).out).toBe("/tmp\n/\n0\n1\n2\n");
  });

  test("ends as it ended, or says that its program or its folder is not there", () => {
    expect(enter(0, ["sh", "-c", "exit 7"]).code).toBe(7);
    expect(enter(0, ["/no/such"])).toMatchObject({ code: 127, words: "go\n" });
    expect(enter(0, ["no-such"])).toMatchObject({ code: 127, words: "go\n" });
    expect(enter(0, ["/etc/passwd"])).toMatchObject({ code: 126, words: "go\n" });
    expect(enter(0, ["true"], "/no/such")).toMatchObject({ code: 127, words: "cwd\n" });
    // What only root may enter is not there for another uid: the folder is looked up as that uid.
    expect(enter(0, ["true"], "/root").words).toBe("go\n");
    expect(enter(10_001, ["true"], "/root").words).toBe("cwd\n");
  });

  test("is led out of the sandbox by no link, though it starts where one leads", () => {
    enter(0, ["ln", "-sfn", "/proc/1/root", "/tmp/out"]);
    const { words } = enter(0, ["sh", "-c", "ls"], "/tmp/out");
    expect(words).toBe("cwd\n");
    expect(existsSync("/tmp/out")).toBe(false);
  });
});

/** Waiting gates of a sandbox: processes of its groups that live on the host, but for its starter. */
function gatesOf({ id }: Sandbox): number[] {
  return allPids().filter(
    (pid) =>
      groupsOf(pid).includes(id) && seeProcess(pid)?.depth === 0 && argumentsOf(pid)[0] === "perl",
  );
}

async function waitingGate(sandbox: Sandbox): Promise<number> {
  await expect.poll(() => gatesOf(sandbox).length).toBe(1);
  return gatesOf(sandbox)[0] ?? 0;
}

describe("the gate that stands ready for the next command", () => {
  let local: OpenLocal;

  beforeAll(async () => {
    local = await openLocal();
  });

  afterAll(async () => {
    await local.close();
  });

  test("is no process of the sandbox, to whoever counts them and to whoever looks inside", async () => {
    const sandbox = await local.create();
    await waitingGate(sandbox);
    expect((await sandbox.mark()).processes).toHaveLength(1);
    const inside = await run(sandbox, "ls -d /proc/[0-9]* | wc -l");
    // The first process, the shell, ls and wc.
    expect(Number(inside.out)).toBeLessThanOrEqual(4);
    await waitingGate(sandbox);
    expect((await sandbox.mark()).processes).toHaveLength(1);
  });

  test("is replaced when something killed it, and the command comes in", async () => {
    const sandbox = await local.create();
    process.kill(await waitingGate(sandbox), "SIGKILL");
    await expect.poll(() => gatesOf(sandbox)).toEqual([]);
    expect((await run(sandbox, "echo in")).out).toBe("in");
  });

  test("ends with the sandbox", async () => {
    const sandbox = await local.create();
    const gate = await waitingGate(sandbox);
    await sandbox.destroy();
    expect(seeProcess(gate)).toBeNull();
  });

  test("lets no word in that another one could hide in", async () => {
    const sandbox = await local.create();
    for (const word of [{ argv: ["echo", "a\0b"] as const }, { env: { A: "x\0PATH=/evil" } }])
      await expect(
        sandbox.exec({ argv: ["env"], uid: 0, cwd: "/", env: {}, ...word }),
      ).rejects.toMatchObject({ failure: "unsupported" });
    const long = { argv: ["true", "x".repeat(200_000)] as const, uid: 0, cwd: "/", env: {} };
    await expect(sandbox.exec(long)).rejects.toMatchObject({ failure: "unsupported" });
    expect((await run(sandbox, "echo still there")).out).toBe("still there");
  });
});
