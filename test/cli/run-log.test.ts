import { expect, test } from "vitest";
import type { CliContext } from "../../cli/context.ts";
import { RunLog } from "../../cli/render/run-log.ts";
import { groupTrials } from "../../core/results/group-trials.ts";
import { planRun } from "../../core/plan/plan-run.ts";
import { aRequest, aTask } from "../core/plan/plan-builders.ts";

test("where the key goes is told with the translation that its calls go through", () => {
  let err = "";
  const context: CliContext = {
    cwd: ".",
    env: {},
    out: { write: () => undefined, isTerminal: false, columns: 80 },
    err: { write: (text) => void (err += text), isTerminal: false, columns: 80 },
    signal: new AbortController().signal,
  };
  const log = new RunLog(context, { quiet: false, json: false });
  const route = { type: "key-route", keyName: "A_KEY", hosts: ["a.example"] } as const;
  log.show({ ...route, translation: null });
  log.show({ ...route, translation: { from: "gemini", to: "openai-completions" } });
  expect(err).toBe(
    "A_KEY goes to a.example\n" +
      "A_KEY goes to a.example; the agent's gemini is translated into openai-completions\n",
  );
});

/** The final block of a run that left these tasks out. */
function blockWithout(names: readonly string[]): string {
  let out = "";
  const context: CliContext = {
    cwd: ".",
    env: {},
    out: { write: (text) => void (out += text), isTerminal: false, columns: 80 },
    err: { write: () => undefined, isTerminal: false, columns: 80 },
    signal: new AbortController().signal,
  };
  const skipped = names.map((name) => ({ name, reason: "it cannot be read" }));
  const plan = planRun(aRequest({ tasks: [aTask("one")], skipped }));
  const [job] = plan.jobs;
  if (job === undefined) throw new Error("a plan without a job");
  const log = new RunLog(context, { quiet: true, json: false });
  log.show({ type: "run-planned", plan });
  const trials = groupTrials([], null);
  const counts = { elapsedSec: 1, reused: 0, ran: 0, budget: null };
  // A new job without a trial would have no folder to name.
  const there = { ...job, resumed: true };
  log.show({ type: "job-ended", job: there, jobDir: "jobs/j", trials, ...counts });
  return out;
}

test("the final block ends with the tasks that were left out, and says nothing where there are none", () => {
  expect(blockWithout([])).toMatch(/Artifacts: jobs\/j\n$/u);
  expect(blockWithout(["b\u001b[2J"])).toMatch(
    /Artifacts: jobs\/j\nSkipped: {3}1 task \(b.*\)\n$/u,
  );
  expect(blockWithout(["b\u001b[2J"])).not.toContain("\u001b");
  expect(blockWithout(["a", "b", "c", "d", "e", "f", "g"])).toMatch(
    /\nSkipped: {3}7 tasks \(a, b, c, d, e, and 2 more\)\n$/u,
  );
});
