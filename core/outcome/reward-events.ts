import * as z from "zod";
import type { Rewards } from "../model/outcome.ts";
import { toPythonJson } from "../results/python-json.ts";

/** One line of rewards.jsonl (spec 1.7). */
export interface RewardEvent {
  readonly ts: string;
  readonly type: "process" | "terminal";
  readonly source: "verifier_rubric" | "verifier";
  readonly value: number;
  readonly tag: string;
  readonly step_index: number | null;
  readonly space: string;
  readonly granularity: string;
  readonly meta: Readonly<Record<string, unknown>>;
}

const RubricItem = z.looseObject({
  score: z.number(),
  name: z.string().optional(),
  step_index: z.int().nullish(),
  space: z.string().default("output"),
  granularity: z.string().default("step"),
});

/**
 * The reward map as events: one for each rubric item, then the reward itself. `finishedAt` is the
 * trial's end as the contract writes it, local time with a `T`.
 */
export function rewardEvents(rewards: Rewards, finishedAt: string): readonly RewardEvent[] {
  const { reward, rubric, space, granularity, ...meta } = rewards;
  const items = z.array(RubricItem).safeParse(rubric);
  const terminal: RewardEvent = {
    ts: finishedAt,
    type: "terminal",
    source: "verifier",
    value: reward,
    tag: "reward",
    step_index: null,
    space: typeof space === "string" ? space : "output",
    granularity: typeof granularity === "string" ? granularity : "terminal",
    meta,
  };
  return [...(items.data ?? []).map((item, index) => toEvent(item, index, finishedAt)), terminal];
}

/** The events as rewards.jsonl holds them, with a newline at the end. */
export function renderRewardEvents(events: readonly RewardEvent[]): string {
  return events.map((event) => `${toPythonJson(event)}\n`).join("");
}

function toEvent(item: z.infer<typeof RubricItem>, index: number, ts: string): RewardEvent {
  const { score, name, step_index, space, granularity, ...meta } = item;
  return {
    ts,
    type: "process",
    source: "verifier_rubric",
    value: score,
    tag: name ?? `rubric_${index}`,
    step_index: step_index ?? null,
    space,
    granularity,
    meta,
  };
}
