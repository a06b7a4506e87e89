import type { Loop } from "../../core/model/trial-result.ts";
import type { AppendFile, AttemptFolder } from "../../core/ports/attempt-folder.ts";
import { toPythonJson } from "../../core/results/python-json.ts";
import type { ConversationPlan, Round } from "../../core/tasks/conversation.ts";

/** What a round came to. */
export interface EndedRound {
  readonly round: Round;
  readonly toolCalls: number;
  readonly events: number;
  readonly startedAt: string;
  /** Without the time for which the models were held back. */
  readonly wallMs: number;
}

/**
 * `user_rounds.jsonl`, for tasks with a simulated user alone (spec 1.2): a row for each round, written
 * as it ends. Nothing is verified between rounds, since the tests would be there for the agent to read,
 * so the contract's two verdict keys are null.
 */
export class RoundLog {
  readonly #plan: ConversationPlan;
  readonly #folder: AttemptFolder;
  readonly #told: string[] = [];
  #file: AppendFile | null = null;
  #rounds = 0;

  constructor(plan: ConversationPlan, folder: AttemptFolder) {
    this.#plan = plan;
    this.#folder = folder;
  }

  async add({ round, toolCalls, events, startedAt, wallMs }: EndedRound): Promise<void> {
    this.#rounds += 1;
    if (round.told !== null) this.#told.push(round.told);
    if (this.#plan.user === null) return;
    this.#file ??= await this.#folder.append("user_rounds.jsonl");
    const row = {
      round: round.number,
      scene: round.scene,
      role: round.role,
      handoff_from: null,
      handoff_to: null,
      prompt: round.prompt,
      rewards: null,
      verifier_error: null,
      n_tool_calls: toolCalls,
      n_trajectory_events: events,
      wall_sec: Math.round(wallMs / 100) / 10,
      told_fact: round.told,
      started_at_utc: startedAt,
    };
    await this.#file.append(new TextEncoder().encode(`${toPythonJson(row)}\n`));
  }

  /** What result.json says of the conversation; null for one without a user. */
  loop(): Loop | null {
    const { user } = this.#plan;
    if (user === null) return null;
    return {
      strategy: "simulated-user",
      user: "scripted",
      rounds: this.#rounds,
      max_rounds: user.maxRounds,
      told_facts: [...this.#told],
    };
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }
}
