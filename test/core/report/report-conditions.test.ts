import { expect, test } from "vitest";
import type { BudgetSummary } from "../../../core/model/ledger-budget.ts";
import { renderReport } from "../../../core/report/render-report.ts";
import { renderReportRc1 } from "../../../core/report/render-report-rc1.ts";
import { renderWriteUp } from "../../../core/report/render-write-up.ts";
import {
  aCard,
  aReportJob,
  missionControls,
  missionRepeats,
  NOTHING_SENT,
  reportOf,
} from "./report-builders.ts";

test("what nothing recorded is told as unknown, never as 0 or as none", () => {
  const { text, group } = reportOf(
    [
      {
        attempt: null,
        settingsDigest: null,
        agent: "claude-agent-acp",
        reward: 1,
        usage: {
          inputTokens: null,
          outputTokens: null,
          cacheReadTokens: null,
          cacheCreationTokens: null,
          totalTokens: null,
          costUsd: null,
          usageSource: "unavailable",
          priceSource: null,
        },
        timing: {},
      },
    ],
    { evaluation: null },
  );
  expect(group.spend).toMatchObject({
    total_tokens: null,
    cost_usd: null,
    cost_status: { unknown: 1 },
  });
  expect(group.time).toEqual({ shortest_sec: null, longest_sec: null, total_sec: null });
  expect(text).toContain(
    "agent versions unknown; served model unknown; route unknown; effort unknown;",
  );
  expect(text).toContain("sandbox unknown; tool unknown; settings digest unknown;");
  expect(text).toContain(
    "Tokens unknown; cost unknown, since no price was known; trial time unknown.",
  );
  expect(text).toContain("Sampling: unknown, since no model request was recorded.");
  expect(text).toContain("Controls: none among these jobs.");
  expect(text).not.toContain("NaN");
});

test("the sampling line counts values as sent, those that some requests left out too", () => {
  const sampling = [
    { ...NOTHING_SENT, max_tokens: 1000, temperature: 0.7 },
    { ...NOTHING_SENT, max_tokens: 1000 },
    { ...NOTHING_SENT, max_tokens: 2000, reasoning: "high" },
  ];
  const { text } = reportOf([{ reward: 1 }], { evidence: { sampling } });
  expect(text).toContain(
    "max_tokens 1000 (2), 2000 (1); temperature 0.7 (1), not sent (2); reasoning high (1), not sent (2); " +
      "no top_p sent, so the model server's default applies.",
  );
});

test("trials near a limit of time or memory are named", () => {
  const resources = {
    cpus: 1,
    memory_mb: 100,
    storage_mb: 1,
    oom_kills: 0,
    cpu_seconds: 1,
    disk_bytes: 1,
  };
  const { group, text } = reportOf(
    [
      { taskName: "slow", timing: { agent_execution: 91, total: 95 } },
      {
        taskName: "large",
        timing: { agent_execution: 10 },
        resources: { ...resources, peak_memory_bytes: 95 * 1024 * 1024 },
      },
      {
        taskName: "fine",
        timing: { agent_execution: 10 },
        resources: { ...resources, peak_memory_bytes: 1 },
      },
    ],
    { evidence: { agentLimitSec: 100 } },
  );
  expect(group.headroom.map(({ trial, limit }) => [trial, limit])).toEqual([
    ["large__00000001", "memory"],
    ["slow__00000001", "time"],
  ]);
  expect(text).toContain("The limits or the use of 1 of 3 trials are not known whole.");
});

test("controls say what they did on the same tasks, and on which they were not run", () => {
  const [oracle, nop] = missionControls();
  if (oracle === undefined || nop === undefined) throw new Error("no controls");
  const broken = aReportJob({
    path: "jobs/oracle/x",
    records: [
      { taskName: "econ-detrending-correlation", agent: "oracle", model: null, reward: 0 },
      {
        taskName: "offer-letter-generator",
        agent: "oracle",
        model: null,
        unscored: "verifier_failure",
      },
    ],
  });
  const card = aCard([...missionRepeats(), broken, nop]);
  expect(card.controls).toEqual([
    {
      control: "oracle",
      tasks: 2,
      scored: 1,
      passed: 0,
      unexpected: ["econ-detrending-correlation"],
      unscored: ["offer-letter-generator"],
      missing: ["crystallographic-wyckoff-position-analysis"],
    },
    { control: "empty", tasks: 3, scored: 3, passed: 0, unexpected: [], unscored: [], missing: [] },
  ]);
  expect(renderReport(card)).toContain(
    "oracle 0/2 (did not pass econ-detrending-correlation; no score of offer-letter-generator; not run on " +
      "crystallographic-wyckoff-position-analysis); nop 0/3.",
  );
  expect(card.groups[0]?.counts.scored).toBe(9);
});

test("money: a sum with unpriced attempts is at least so much, and charged reservations are told", () => {
  const priced = {
    inputTokens: 1,
    outputTokens: 1,
    cacheReadTokens: 0,
    cacheCreationTokens: 0,
    totalTokens: 2_000_000_000,
    costUsd: 1.5,
    usageSource: "provider_response",
    priceSource: "genai-prices@0.1.8",
  };
  const { group, text } = reportOf([
    { taskName: "a", reward: 1, usage: priced },
    { taskName: "b", reward: 1, usage: { ...priced, costUsd: null } },
  ]);
  expect(group.spend).toMatchObject({
    total_tokens: 4_000_000_000,
    cost_per_pass_usd: null,
    cost_status: { priced: 1, unpriced: 1 },
  });
  expect(text).toContain(
    "Tokens 4,000,000,000; cost at least $1.50 (1 of 2 attempts have no price)",
  );
  const { group: whole } = reportOf([
    { taskName: "a", reward: 1, usage: priced },
    { taskName: "b", reward: 0, usage: { ...priced, costUsd: 0.5, priceSource: null } },
  ]);
  expect(whole.spend).toMatchObject({
    cost_per_pass_usd: 2,
    price_sources: ["genai-prices@0.1.8"],
  });
});

test("a script's number is told as no model's in every report and write-up, and a model's is not", () => {
  const said = "scripted/solve.json answered in the place of a model, so this is no model's score.";
  const every = [renderReport, renderReportRc1, renderWriteUp];
  const scripted = aCard([aReportJob({ records: [{ reward: 1, model: "scripted/solve.json" }] })]);
  const asked = aCard([aReportJob({ records: [{ reward: 1, model: "openai/gpt-5" }] })]);
  for (const render of every) {
    expect(render(scripted)).toContain(said);
    expect(render(asked)).not.toContain("in the place of a model");
  }
});

test("the ledger's figures tell what is unknown, and whose they are where several jobs have some", () => {
  const figures = { cost_usd: 0, sandbox_seconds: 60, tokens: 1_200, rollouts: 2 };
  const budget: BudgetSummary = {
    caps: { max_cost_usd: null, max_sandbox_seconds: null, max_tokens: 5_000, max_rollouts: null },
    spent: { ...figures, usd_unknown_trials: 2, tokens_unknown_trials: 0 },
    stopped: false,
    reason: null,
    cancelled: [],
    not_started: [],
    held: { cost_usd: 0, sandbox_seconds: 0, tokens: 0, rollouts: 0 },
    anomalies: [],
  };
  const job = (path: string) => ({ ...aReportJob({ path, records: [{ reward: 1 }] }), budget });
  const told = "$0.00 and 1,200 tokens spent (2 trials of unknown cost), no cap in dollars";
  expect(renderReport(aCard([job("jobs/a")]))).toContain(`Ledger of the command: ${told}`);
  expect(renderReport(aCard([job("jobs/a"), job("jobs/b")]))).toContain(
    `Ledger of the command, as job b has it: ${told}`,
  );
});
