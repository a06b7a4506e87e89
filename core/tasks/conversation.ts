import type { RunSettings } from "../model/settings.ts";
import type { Task } from "../model/task.ts";
import { readScenes } from "./scene-turns.ts";
import { askedFact, readSimulatedUser, type ScriptedUser, tellFact } from "./simulated-user.ts";

/** What the run changes of what an agent is asked. */
export type PromptWishes = Readonly<
  Record<keyof Pick<RunSettings, "prompts" | "extraInstructions">, readonly string[]>
>;

/** A prompt that is sent whatever the agent answers. */
export interface Opening {
  readonly prompt: string;
  /** Null outside of scenes. */
  readonly scene: string | null;
  readonly role: string | null;
  /** The agent begins anew, with nothing but the workspace of what was before. */
  readonly opensSession: boolean;
}

/** All that is said to one trial's agent, as far as it is known before. */
export interface ConversationPlan {
  readonly openings: readonly [Opening, ...Opening[]];
  readonly user: ScriptedUser | null;
}

const NO_WISHES: PromptWishes = { prompts: [], extraInstructions: [] };

/**
 * What an agent is sent, in order (spec 5.2, 6.4). The run's `--prompt` stands in the place of the
 * task's prompt and scenes, several follow each other; `--extra-instruction` ends the first prompt; the
 * task's `agent.prompt_prefix` stands before each; a blank line is between the parts. A simulated user
 * answers from the second prompt on. Pure.
 */
export function planConversation(
  task: Pick<Task, "prompt" | "config" | "document">,
  { prompts, extraInstructions }: PromptWishes = NO_WISHES,
): ConversationPlan {
  const [first, ...others] = openingsOf(task, prompts);
  const { promptPrefix } = task.config.agent;
  const prefixed = (opening: Opening): Opening =>
    promptPrefix === null
      ? opening
      : { ...opening, prompt: `${promptPrefix}\n\n${opening.prompt}` };
  const extended = { ...first, prompt: [first.prompt, ...extraInstructions].join("\n\n") };
  const reading = readSimulatedUser(task.document);
  return {
    openings: [prefixed(extended), ...others.map(prefixed)],
    user: reading.kind === "scripted" ? reading.user : null,
  };
}

function openingsOf(
  { prompt, document }: Pick<Task, "prompt" | "document">,
  wished: readonly string[],
): ConversationPlan["openings"] {
  const [first, ...others] = wished;
  if (first !== undefined)
    return [plainOpening(first, true), ...others.map((text) => plainOpening(text, false))];
  const scenes = readScenes(document, prompt);
  return scenes.kind === "turns" ? scenes.turns : [plainOpening(prompt, true)];
}

function plainOpening(prompt: string, opensSession: boolean): Opening {
  return { prompt, scene: null, role: null, opensSession };
}

/** One prompt of a conversation and what follows it. */
export interface Round extends Opening {
  /** From 0. */
  readonly number: number;
  /** The fact that the user tells in it; null for none. */
  readonly told: string | null;
}

/** Gives one prompt after another, the user's from what the agent said to the one before. */
export class Conversation {
  readonly #plan: ConversationPlan;
  readonly #told = new Set<string>();
  #next = 0;

  constructor(plan: ConversationPlan) {
    this.#plan = plan;
  }

  /** `said`: the agent's words since the last prompt. Null when nobody has anything more to say. */
  next(said: string): Round | null {
    const number = this.#next;
    const answer = number === 0 ? null : this.#answer(said);
    const opening = this.#plan.openings[number];
    if (opening === undefined && answer === null) return null;
    this.#next += 1;
    const told = answer?.[0] ?? null;
    const texts = [
      ...(opening === undefined ? [] : [opening.prompt]),
      ...(answer === null ? [] : [tellFact(answer)]),
    ];
    const prompt = texts.join("\n\n");
    return { scene: null, role: null, opensSession: false, ...opening, number, told, prompt };
  }

  #answer(said: string): readonly [name: string, value: string] | null {
    const { user } = this.#plan;
    if (user === null || this.#next >= user.maxRounds) return null;
    const left = user.facts.filter(([name]) => !this.#told.has(name));
    const asked = askedFact(said, left);
    if (asked !== null) this.#told.add(asked[0]);
    return asked;
  }
}
