import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { FileJobStore } from "../../../stores/files/file-job-store.ts";
import { startedBy } from "../../core/plan/plan-builders.ts";
import { planFrom } from "./plan-from.ts";
import { JOB_NAME } from "./result-text.ts";
import { temporaryFolder, treeOf } from "./store-builders.ts";

const TASKS = Array.from({ length: 12 }, (_, index) => `task-${String(index).padStart(2, "0")}`);
const KILLS = 16;

/** One file that Node starts in a twentieth of a second: most kills then hit the work. */
async function bundleChild(dir: string): Promise<string> {
  const outfile = join(dir, "run-job.mjs");
  await build({
    entryPoints: [fileURLToPath(new URL("run-job.child.ts", import.meta.url))],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "silent",
  });
  return outfile;
}

/** The bytes of every sealed result, by path. */
async function sealedResults(jobsDir: string): Promise<Map<string, string>> {
  const paths = await treeOf(jobsDir);
  const sealed = paths.filter((path) => path.endsWith("/seal.json"));
  const results = sealed.map(async (path): Promise<[string, string]> => {
    const result = path.replace(/seal\.json$/u, "result.json");
    return [result, await readFile(join(jobsDir, result), "utf8")];
  });
  return new Map(await Promise.all(results));
}

test("killed at any moment and started again, a job loses and repeats no score (C-1, C-11)", async () => {
  const dir = temporaryFolder();
  const jobsDir = join(dir, "jobs");
  await mkdir(jobsDir);
  const script = await bundleChild(dir);
  const start = () => spawn(process.execPath, [script, jobsDir, TASKS.join(",")]);
  let known = new Map<string, string>();
  for (let kill = 0; kill < KILLS; kill += 1) {
    const child = start();
    const exit = once(child, "exit");
    // Some kills come before the job is open, some while it is made, most while it is written.
    if (kill % 4 > 0) await Promise.race([once(child.stdout, "data"), exit]);
    await delay(Math.random() * 40);
    child.kill("SIGKILL");
    await exit;
    const now = await sealedResults(jobsDir);
    for (const [path, bytes] of known) expect(now.get(path)).toBe(bytes);
    known = now;
  }
  const last = start();
  expect(await once(last, "exit")).toEqual([0, null]);
  const store = new FileJobStore(jobsDir);
  expect(await store.jobNames(jobsDir)).toEqual([JOB_NAME]);
  const plan = await planFrom(store, jobsDir, TASKS);
  expect(startedBy(plan)).toEqual([]);
  expect(plan.warnings).toEqual([]);
  expect((await sealedResults(jobsDir)).size).toBe(TASKS.length);
  const tree = await treeOf(jobsDir);
  expect(tree.filter((path) => /\.tmp-|\.evaluation\.l/u.test(path))).toEqual([]);
  for (const path of tree.filter((each) => each.endsWith("/seal.json"))) {
    const rolloutName = path.split("/").at(-2) ?? "";
    const check = await store.checkSeal({ jobsDir, jobName: JOB_NAME }, rolloutName);
    expect(check).toEqual({ state: "intact", problems: [], extra: [] });
  }
}, 60_000);
