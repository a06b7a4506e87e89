import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { TarSource } from "../../../core/tar/write-tar.ts";
import { runVerifier } from "../../../runner/verifier/run-verifier.ts";
import type { VerifyReport, VerifyRequest } from "../../../runner/verifier/verify-request.ts";
import { type AttemptFiles, attemptFiles } from "./attempt-files.ts";
import { root, type ScriptedExec, ScriptedSandbox } from "./scripted-sandbox.ts";

const HARDENED: ScriptedExec = {
  prints: "uid 0\0home /root\0path /usr/bin\0report \0\0done \0",
};

/** What a verification did to a scripted sandbox and what it said. */
export interface Verified {
  readonly report: VerifyReport;
  readonly sandbox: ScriptedSandbox;
  readonly files: AttemptFiles;
}

export interface Scene {
  readonly tests?: ScriptedExec;
  readonly again?: readonly ScriptedExec[];
  readonly hardening?: ScriptedExec;
  readonly verdict?: readonly TarSource[];
  readonly left?: number[];
  readonly request?: Partial<VerifyRequest>;
}

/** A task folder with a test.sh, removed when the test ends. */
export async function aTask(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "bench-verify-"));
  onTestFinished(async () => {
    await rm(dir, { recursive: true });
  });
  await mkdir(join(dir, "tests"));
  await writeFile(join(dir, "tests", "test.sh"), "#!/bin/sh\npytest --ctrf x\n");
  return dir;
}

/** Runs one verification of a scene. */
export async function verify(scene: Scene): Promise<Verified> {
  const taskDir = await aTask();
  const sandbox = new ScriptedSandbox();
  sandbox.execs.push(scene.hardening ?? HARDENED, scene.tests ?? {}, ...(scene.again ?? []));
  sandbox.leftSince = scene.left ?? [];
  sandbox.trees.set("/logs/verifier", [root("verifier"), ...(scene.verdict ?? [])]);
  const files = await attemptFiles();
  let nowMs = 0;
  const request: VerifyRequest = {
    taskName: "task",
    instruction: "Do it.",
    taskDir,
    testsDir: join(taskDir, "tests"),
    placement: "tests",
    command: "./test.sh",
    timeoutMs: 5000,
    user: null,
    env: {},
    imageEnv: {},
    rewardRange: [0, 1],
    lenientRewards: false,
    aggregatePolicy: null,
    cleanupConftests: true,
    pytestPlugins: [],
    workdir: "/app",
    agentUid: 10_001,
    agentHome: "/home/agent",
    agentWasRoot: false,
    baseline: null,
    mark: { processes: [] },
    shownDir: "jobs/job/task__00000001/verifier",
    clock: {
      now: () => new Date(0),
      monotonicMs: () => (nowMs += 7000),
      sleptMs: () => 0,
      sleep: async () => undefined,
    },
    signal: new AbortController().signal,
    ...scene.request,
  };
  return { report: await runVerifier(sandbox, request, files.folder), sandbox, files };
}
