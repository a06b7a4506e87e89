import type { TaskDocument } from "../model/task.ts";
import { isRecord } from "./plain-data.ts";

/** A user whom rules play: knows some facts, and tells one when the agent asks for it. */
export interface ScriptedUser {
  /** Name and value, in the order in which they are told. */
  readonly facts: readonly (readonly [name: string, value: string])[];
  /** Prompts of a trial at most, the first one included. */
  readonly maxRounds: number;
}

export type UserReading =
  | { readonly kind: "none" }
  | { readonly kind: "scripted"; readonly user: ScriptedUser }
  /** Why nobody here can play it. */
  | { readonly kind: "refused"; readonly reasons: readonly string[] };

const DEFAULT_MAX_ROUNDS = 5;
/** What an agent says is looked through for each word of them. */
const MAX_FACTS = 100;
const MAX_FACT_CHARS = 4000;
const RULED = new Set(["scripted", "deterministic"]);
const USER_KEYS = new Set(["model", "stop_rule", "private_facts"]);
const NUDGE_KEYS = new Set(["mode", "nudge_budget"]);

/**
 * The user that a task.md brings (`user`, `benchflow.nudges`). A user is either played as it is written
 * or refused: one that is half played would measure something else than the task says.
 */
export function readSimulatedUser({ user, benchflow }: TaskDocument): UserReading {
  const { nudges } = benchflow;
  const isNudged = isRecord(nudges) && nudges["mode"] === "simulated-user";
  if (user === null && !isNudged) return { kind: "none" };
  const reading = new UserReader(user ?? {}, nudges ?? {});
  const facts = reading.facts();
  const maxRounds = reading.maxRounds();
  reading.checkRest();
  const { reasons } = reading;
  if (reasons.length > 0) return { kind: "refused", reasons };
  return { kind: "scripted", user: { facts, maxRounds } };
}

class UserReader {
  readonly reasons: string[] = [];
  readonly #user: Readonly<Record<string, unknown>>;
  readonly #nudges: unknown;

  constructor(user: Readonly<Record<string, unknown>>, nudges: unknown) {
    this.#user = user;
    this.#nudges = nudges;
  }

  facts(): [string, string][] {
    const { private_facts: facts } = this.#user;
    if (!isRecord(facts) || Object.keys(facts).length === 0) {
      this.reasons.push("user.private_facts is missing, and a scripted user has nothing to tell");
      return [];
    }
    const entries = Object.entries(facts);
    if (entries.length > MAX_FACTS)
      this.reasons.push(`user.private_facts are ${String(entries.length)}, more than ${MAX_FACTS}`);
    return entries.flatMap(([name, value]): [string, string][] => {
      const isFit = typeof value === "string" && name.length + value.length <= MAX_FACT_CHARS;
      if (isFit) return [[name, value]];
      const rule = `no text of up to ${MAX_FACT_CHARS} characters`;
      this.reasons.push(`user.private_facts.${name.slice(0, 100)} is ${rule}`);
      return [];
    });
  }

  maxRounds(): number {
    const bounds = [this.#ruledRounds(), this.#budgetedRounds()].filter((each) => each !== null);
    return bounds.length === 0 ? DEFAULT_MAX_ROUNDS : Math.min(...bounds);
  }

  checkRest(): void {
    const { model = null } = this.#user;
    if (model !== null && !(typeof model === "string" && RULED.has(model)))
      this.reasons.push(
        `user.model is ${shown(model)}: a user whom a model plays is not built in this edition, only scripted ones are`,
      );
    this.#refuseOthers("user", this.#user, USER_KEYS);
    if (isRecord(this.#nudges)) this.#refuseOthers("benchflow.nudges", this.#nudges, NUDGE_KEYS);
    else this.reasons.push("benchflow.nudges is no table");
  }

  #ruledRounds(): number | null {
    const { stop_rule: rule = null } = this.#user;
    if (rule === null) return null;
    const found =
      typeof rule === "string" ? /^satisfied-or-([1-9]\d{0,3})-rounds$/u.exec(rule) : null;
    if (found !== null) return Number(found[1]);
    this.reasons.push(`user.stop_rule is ${shown(rule)}, and only satisfied-or-N-rounds is known`);
    return null;
  }

  #budgetedRounds(): number | null {
    const budget = isRecord(this.#nudges) ? (this.#nudges["nudge_budget"] ?? null) : null;
    if (budget === null) return null;
    if (typeof budget === "number" && Number.isInteger(budget) && budget > 0) return budget;
    this.reasons.push(
      `benchflow.nudges.nudge_budget is ${shown(budget)}, no positive whole number`,
    );
    return null;
  }

  /** What nobody here acts on would be left out without a word. */
  #refuseOthers(path: string, table: object, known: ReadonlySet<string>): void {
    for (const [key, value] of Object.entries(table))
      if (!known.has(key) && value !== false)
        this.reasons.push(`${path}.${key} is not acted on by this edition`);
  }
}

function shown(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 100) ?? "nothing";
}

/** Words by which a question is known where no question mark stands. */
const ASKING = ["clarify", "need", "tell me", "what", "which"];
const FILLERS = new Set("the and for with use need this that from only after".split(" "));

/**
 * The first fact, of those not told yet, that the agent's own words ask for: a question in which all
 * words of the fact's name stand, or one of its value's (the contract's rule). Only what the agent says
 * to the user counts: its prompts, thoughts and tools name facts that it did not ask for.
 */
export function askedFact(
  said: string,
  facts: ScriptedUser["facts"],
): readonly [name: string, value: string] | null {
  const text = said.toLowerCase();
  if (!text.includes("?") && !ASKING.some((word) => text.includes(word))) return null;
  const asked = facts.find(([name, value]) => {
    const words = signalWords(name);
    const isNamed = words.length > 0 && words.every((word) => text.includes(word));
    return isNamed || signalWords(value).some((word) => text.includes(word));
  });
  return asked ?? null;
}

/** What the user says of a fact. */
export function tellFact([name, value]: readonly [name: string, value: string]): string {
  return `You asked about the ${name.replaceAll("_", " ")}. It is: ${value}`;
}

function signalWords(text: string): string[] {
  const words = text.toLowerCase().match(/[a-z0-9]+/gu) ?? [];
  return words.filter((word) => word.length > 2 && !FILLERS.has(word));
}
