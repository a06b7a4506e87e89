import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../../../core/ports/sandbox.ts";
import type { ConversationPlan } from "../../../core/tasks/conversation.ts";
import { type OpenLocal, openLocal } from "../../sandboxes/local/open-local.ts";
import { runScripted } from "./acp-scene.ts";

let local: OpenLocal;
let sandbox: Sandbox;

beforeAll(async () => {
  local = await openLocal();
  sandbox = await local.create();
});

afterAll(async () => {
  await local.close();
});

const opening = (prompt: string, opensSession = false): ConversationPlan["openings"][0] => ({
  prompt,
  scene: null,
  role: null,
  opensSession,
});

describe("several prompts", () => {
  const user = { facts: [["order_id", "BF-1042"]], maxRounds: 3 } as const;

  test("with a user who is asked are sent in one session, with a row for each on disk", async () => {
    const conversation = { openings: [opening("Help.", true)], user } as const;
    const way = { turn: "asks", echo: true };
    const { report, events, files, log } = await runScripted(sandbox, { way, conversation });
    expect(report).toMatchObject({
      end: { kind: "completed" },
      prompts: ["Help.", "You asked about the order id. It is: BF-1042"],
      loop: { strategy: "simulated-user", rounds: 2, told_facts: ["order_id"] },
    });
    expect(events.map(({ type }) => type)).toEqual([
      "user_message",
      "agent_message",
      "user_message",
      "agent_thought",
      "agent_message",
      "tool_call",
      "agent_message",
    ]);
    const rows = files.text("user_rounds.jsonl").trimEnd().split("\n");
    expect(rows.map((row) => JSON.parse(row))).toMatchObject([
      { round: 0, prompt: "Help.", n_tool_calls: 0, told_fact: null },
      { round: 1, n_tool_calls: 1, n_trajectory_events: 5, told_fact: "order_id" },
    ]);
    expect(log.match(/asked in .*/gu)).toEqual(["asked in session-1", "asked in session-1"]);
  });

  test("are sent in a session of their own where one opens it", async () => {
    const openings = [opening("One.", true), opening("Two."), opening("Three.", true)] as const;
    const conversation = { openings, user: null };
    const { report, log, files } = await runScripted(sandbox, {
      way: { echo: true },
      conversation,
    });
    expect(report).toMatchObject({ prompts: ["One.", "Two.", "Three."], toolCalls: 2, loop: null });
    expect(log.match(/asked in .*/gu)).toEqual([
      "asked in session-1",
      "asked in session-1",
      "asked in session-2",
    ]);
    expect(() => files.text("user_rounds.jsonl")).toThrow(/no user_rounds\.jsonl/u);
  });

  test("have one wall clock", async () => {
    const openings = [opening("1", true), opening("2"), opening("3"), opening("4")] as const;
    const wish = { way: { turn: "slow" }, conversation: { openings, user: null }, wallSec: 1 };
    const { report, events } = await runScripted(sandbox, wish);
    expect(report.end).toMatchObject({ kind: "limit", limit: "wall-clock" });
    expect(report.prompts).toEqual(["1", "2"]);
    expect(events.at(-1)).toMatchObject({ type: "agent_timeout", timeout_sec: 1 });
  });

  test("end where the provider has failed, so that no later success makes the work count", async () => {
    const openings = [opening("1", true), opening("2")] as const;
    const conversation = { openings, user: null };
    const models = { isFailing: () => true };
    const { report } = await runScripted(sandbox, { way: {}, conversation, models });
    expect(report.prompts).toEqual(["1"]);
  });
});
