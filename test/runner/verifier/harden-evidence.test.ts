import { expect, test } from "vitest";
import { type HardeningEvidence, hardenSandbox } from "../../../runner/verifier/harden-sandbox.ts";
import { parseLoadedCode } from "../../../runner/verifier/loaded-code.ts";
import { summarizeHardening } from "../../../runner/verifier/summarize-hardening.ts";
import { ScriptedSandbox } from "./scripted-sandbox.ts";

/** The evidence of a hardening that prints these records. */
async function evidenceOf(...records: readonly string[]): Promise<HardeningEvidence> {
  const sandbox = new ScriptedSandbox();
  const all = ["uid 0", "home /root", "report ", ...records, "", "done "];
  sandbox.execs.push({ prints: all.map((each) => `${each}\0`).join("") });
  const { evidence } = await hardenSandbox(sandbox, {
    workdir: "/app",
    agentUid: 10_001,
    agentHome: "/home/agent",
    agentWasRoot: false,
    verifierUser: null,
    testsDir: "/tests",
    imagePath: "",
    pythonPath: "",
    caches: {},
    instruction: "Do it.",
    cleanupConftests: true,
    baseline: { bytecodeFolders: [], links: [], loaded: parseLoadedCode([]), takenAt: "1" },
    signal: new AbortController().signal,
  });
  return evidence;
}

test("what a reader must know is in the summary, the rest is counted", async () => {
  const suspects = Array.from({ length: 25 }, (_, index) => `changed /etc/x${index}`);
  const evidence = await evidenceOf(
    "module /app/json.py",
    "config Makefile aa",
    "skipped find: /app/x: Input/output error",
    "found ",
    "unwatched /usr",
    "planted /app/conftest.py",
    "link /app/l",
    ...suspects,
  );
  const summary = summarizeHardening(evidence, false);
  expect(summary).toMatchObject({
    integrity: "suspect",
    more_suspects: 6,
    changed_configs: ["Makefile added"],
    removed: 2,
    not_done: [
      "changes below /usr were not looked for: it is a mount of its own",
      "find: /app/x: Input/output error",
    ],
  });
  expect(summary.suspects).toHaveLength(20);
  expect(summary.suspects.slice(0, 2)).toEqual([
    "/app/json.py stands in for python's json",
    "/etc/x0 changed, and only root may write it",
  ]);
});

test("a hardening that found nothing says so, and where it did not look", async () => {
  expect(summarizeHardening(await evidenceOf("found "), false)).toEqual({
    integrity: "clean",
    suspects: [],
    more_suspects: 0,
    changed_configs: [],
    removed: 0,
    not_done: [],
  });
  expect(summarizeHardening(await evidenceOf("found ", "unwatched /usr"), false)).toMatchObject({
    integrity: "partly watched",
    not_done: ["changes below /usr were not looked for: it is a mount of its own"],
  });
});

test("where nothing was watched the reason is told", async () => {
  const evidence = await evidenceOf("found ", "unwatched /");
  expect(evidence.integrity).toBe("not watched");
  expect([true, false].map((isRoot) => summarizeHardening(evidence, isRoot).not_done)).toEqual([
    ["changes were not looked for: the agent was root"],
    ["changes were not looked for: this image has no GNU find"],
  ]);
});

test("a list of names that was cut says so", async () => {
  const name = `planted /app/${"x".repeat(1000)}`;
  const whole = await evidenceOf("found ", ...Array.from({ length: 900 }, () => name));
  expect(whole.skipped).toEqual([]);
  const cut = await evidenceOf("found ", ...Array.from({ length: 990 }, () => name));
  expect(cut.skipped).toEqual(["what was found beyond 1 MB of names is not listed"]);
});
