import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openCloudAccount } from "../../api/cloud/cloud-account.ts";
import { runBench } from "../e2e/run-bench.ts";
import { deployToEmulator } from "./deployed-stack.ts";
import { emulatedEnv } from "./emulated-account.ts";

test("a deploy makes all that a sweep needs, and a second one changes nothing", async () => {
  const first = await deployToEmulator();
  expect(first.stack.OutSweep).toContain(":stateMachine:BenchflowCloud-sweep");
  expect((await deployToEmulator()).stack).toEqual(first.stack);
});

test("a deploy that nobody can answer asks for --yes, and --synth-only asks no account", async () => {
  const asked = await runBench(["cloud", "deploy"], { cwd: process.cwd(), env: emulatedEnv() });
  expect(asked.code).toBe(2);
  expect(asked.stderr).toContain("pass --yes");
  const dir = mkdtempSync(join(tmpdir(), "bench-synth-"));
  const nowhere = { AWS_ENDPOINT_URL: "http://127.0.0.1:9", AWS_REGION: "eu-central-1" };
  const synth = await runBench(["cloud", "deploy", "--synth-only", "--out", "out"], {
    cwd: dir,
    env: nowhere,
  });
  expect(synth.code, synth.stderr).toBe(0);
  const template = JSON.parse(readFileSync(synth.stdout.trim(), "utf8"));
  rmSync(dir, { recursive: true });
  expect(Object.keys(template.Resources).length).toBeGreaterThan(30);
});

test("a region without the stack is told with the command that makes it", async () => {
  const elsewhere = { ...emulatedEnv(), AWS_REGION: "eu-west-3" };
  await expect(openCloudAccount(elsewhere)).rejects.toMatchObject({
    kind: "unavailable",
    message: "nothing is deployed in region eu-west-3",
  });
});
