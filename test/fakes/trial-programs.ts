import { taskNameOf } from "../../core/plan/rollout-name.ts";
import { SETUP_SCRIPT } from "../../runner/setup/setup-script.ts";
import { HARDEN_SCRIPT } from "../../runner/verifier/harden-script.ts";
import {
  type MemoryProgram,
  NotInMemory,
  type ProgramRun,
} from "./memory-sandboxes/memory-program.ts";

/** What a task's solution and its tests do; the default is solved by the one and passed by the other. */
export interface TaskPlay {
  readonly solve?: (run: ProgramRun) => Promise<void>;
  readonly verify?: (run: ProgramRun) => Promise<void>;
  /** Runs before the sandbox is made the verifier's; throw or hang to fail there. */
  readonly harden?: (run: ProgramRun) => Promise<void>;
}

/** The solution that does it. */
export async function solveIt({ tree, cwd }: ProgramRun): Promise<void> {
  tree.write(`${cwd}/answer`, "1");
}

/** Tests that give what the workspace's answer says, and 0 without one. */
export async function giveReward({ tree }: ProgramRun): Promise<void> {
  tree.write("/logs/verifier/reward.txt", tree.read("/app/answer") ?? "0");
}

/** Tests that leave no verdict. */
export async function giveNothing(): Promise<void> {}

/** A program that goes on until it is killed. */
export async function hang({ signal }: ProgramRun): Promise<void> {
  await new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve());
  });
}

/**
 * The programs that a trial calls in its sandbox: the runner's own scripts, as far as later phases
 * depend on what they do, and what each task is said to do.
 */
export function trialPrograms(
  plays: Readonly<Record<string, TaskPlay>>,
): ReadonlyMap<string, MemoryProgram> {
  const playOf = ({ owner }: ProgramRun): TaskPlay =>
    plays[taskNameOf(owner.rolloutName) ?? ""] ?? {};
  return new Map([
    ["bash", async (run) => await play(run, playOf(run).solve ?? solveIt)],
    ["sh", async (run) => await runScript(run, playOf(run))],
  ]);
}

async function play(run: ProgramRun, act: (run: ProgramRun) => Promise<void>): Promise<number> {
  await act(run);
  return 0;
}

async function runScript(run: ProgramRun, plays: TaskPlay): Promise<number> {
  const [, , script = "", , , line] = run.argv;
  if (script.startsWith(SETUP_SCRIPT)) return setUp(run);
  if (script === HARDEN_SCRIPT) {
    await plays.harden?.(run);
    return harden(run);
  }
  if (line === "/tests/test.sh") return await play(run, plays.verify ?? giveReward);
  if (script.includes('for folder in "$WORKDIR"')) return emptyWorkspace(run);
  throw new NotInMemory(`sh -c ${script.slice(0, 60)}`);
}

function setUp({ tree, env, print }: ProgramRun): number {
  const workdir = env["WORKDIR"] ?? "";
  for (const folder of [workdir, "/logs/agent", "/logs/artifacts"]) tree.makeFolder(folder);
  print(`uid 10001\0home /home/agent\0workdir ${workdir}\0time 1\0done \0`);
  return 0;
}

function harden({ tree, print }: ProgramRun): number {
  tree.remove("/logs/verifier");
  tree.makeFolder("/logs/verifier");
  print("uid 0\0home /root\0path /usr/bin\0report \0\0done \0");
  return 0;
}

function emptyWorkspace({ tree, env, print }: ProgramRun): number {
  tree.remove(env["WORKDIR"] ?? "");
  tree.makeFolder(env["WORKDIR"] ?? "");
  print("done \0");
  return 0;
}
