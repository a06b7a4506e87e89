import { setTimeout as delay } from "node:timers/promises";
import { SandboxError, type SandboxFailure } from "../../core/ports/sandbox.ts";
import type { ControlChannel } from "./control-channel.ts";
import type { EngineClient } from "./engine-client.ts";
import { EngineError } from "./engine-error.ts";
import { quoteWord } from "./shell-words.ts";

/** Which processes a purge ends. */
export type Victims =
  | { readonly kind: "user"; readonly uid: number }
  /** Everything that is not in this list of `pid:start`, nor descends from one of the keepers. */
  | {
      readonly kind: "since";
      readonly older: readonly string[];
      readonly keepers: readonly string[];
    }
  /**
   * The process, what shares its session or descends from it, and orphans that are neither in the
   * list of older processes nor in the session of another command.
   */
  | {
      readonly kind: "tree";
      readonly uid: number;
      readonly root: string;
      readonly older: readonly string[];
      readonly otherRoots: readonly string[];
    }
  /** The worker's present job, whose process is the root where it is known. */
  | { readonly kind: "job"; readonly root: string | null; readonly otherRoots: readonly string[] };

export interface PurgeTools {
  readonly control: ControlChannel;
  readonly client: EngineClient;
  readonly containerId: string;
  readonly pidsLimit: number;
  /** Whether no command is just starting, which a kill of everything would hit unseen. */
  readonly isAlone: () => boolean;
  /** Kills all of a user in one call, from outside the sandbox's limits. */
  readonly killFromOutside: (uid: number) => Promise<void>;
}

const ROUNDS = 60;
const PATIENCE_MS = 10_000;

/** Thousands of busy processes leave the supervisor too little time to look at them one by one. */
const CROWDED_MS = 1000;

/** What one search left behind. */
interface Purged {
  readonly left: number;
  /** Of these were killed, and have not ended yet: gigabytes take their time on a busy machine. */
  readonly dying: number;
}

/** Those that die need no look every millisecond. */
const DYING_LOOK_MS = 20;

/**
 * Kills processes until none is left and resolves to the number left: 0 is a proof, two looks in a
 * row. What takes the processor away from the search is killed from outside, where it is one user's.
 * What dies is waited for. What outruns the search by forking on loses the right to fork: the
 * container's process limit is lowered to nothing meanwhile, which the kernel holds.
 */
export async function endProcesses(tools: PurgeTools, victims: Victims): Promise<number> {
  let found = await purgeInTime(tools, victims);
  const patient = performance.now() + PATIENCE_MS;
  while (found.left > 0 && found.left === found.dying && performance.now() < patient) {
    await delay(DYING_LOOK_MS);
    found = await purgeOnce(tools, victims);
  }
  return found.left === 0 ? 0 : await endWithoutForks(tools, victims);
}

async function endWithoutForks(tools: PurgeTools, victims: Victims): Promise<number> {
  const isFrozen = await limitProcesses(tools, 1);
  // The supervisor cannot fork either: a kill of everything would end it, and the sandbox with it.
  const frozen = isFrozen ? { ...tools, isAlone: () => false } : tools;
  try {
    const until = performance.now() + PATIENCE_MS;
    let found = await purgeOnce(frozen, victims);
    while (found.left > 0 && performance.now() < until) found = await purgeOnce(frozen, victims);
    return found.left;
  } finally {
    if (isFrozen) await limitProcesses(tools, tools.pidsLimit);
  }
}

async function purgeInTime(tools: PurgeTools, victims: Victims): Promise<Purged> {
  const purge = purgeOnce(tools, victims);
  const uid = uidOf(victims);
  // Root's processes are not only the victims: for them there is no kill from outside.
  if (uid === null || uid === 0) return await purge;
  let timer: NodeJS.Timeout | undefined;
  const crowded = new Promise<"crowded">((resolve) => {
    timer = setTimeout(() => {
      resolve("crowded");
    }, CROWDED_MS);
  });
  const first = await Promise.race([purge, crowded]);
  clearTimeout(timer);
  if (first !== "crowded") return first;
  purge.catch(() => undefined);
  await helpFromOutside(tools, uid);
  return await purge;
}

/** How a helper ends that was killed before it started, or before it could say that it had done its work. */
const KILLED_HELPER: ReadonlySet<SandboxFailure> = new Set(["start-failed", "unsupported"]);

/**
 * Within the sandbox the helper is one more process of the user's: a search that was about to end kills
 * it too. That is no failure, since the search goes on, and its count decides.
 */
async function helpFromOutside(tools: PurgeTools, uid: number): Promise<void> {
  try {
    await tools.killFromOutside(uid);
  } catch (error) {
    if (!(error instanceof SandboxError) || !KILLED_HELPER.has(error.failure)) throw error;
  }
}

function uidOf(victims: Victims): number | null {
  return victims.kind === "user" || victims.kind === "tree" ? victims.uid : null;
}

async function purgeOnce(tools: PurgeTools, victims: Victims): Promise<Purged> {
  const alone = tools.isAlone() ? "1" : "0";
  const line = `${PREDICATES[victims.kind]} ${String(ROUNDS)} ${alone}\n`;
  const answer = await tools.control.request((sequence) =>
    Buffer.from(`${selection(victims)} ${sequence} ${line}`),
  );
  const [, left, swept, dying] = PURGED.exec(answer.join("\n")) ?? [];
  if (left === undefined)
    throw new SandboxError(
      "lost",
      `sandbox lost: its supervisor answered ${JSON.stringify(answer)} to a search for processes`,
    );
  // The one kill of everything takes the worker with it.
  if (swept === "1") await tools.control.restart();
  return { left: Number(left), dying: Number(dying) };
}

/** Left, rounds, whether everything was killed, dying. */
const PURGED = /^(\d+) \d+ ([01]) (\d+)$/u;

const PREDICATES = { user: "by_user", since: "by_age", tree: "by_tree", job: "by_tree" };

/** Sets what the supervisor's predicates compare with, and begins its `purge` line. */
function selection(victims: Victims): string {
  if (victims.kind === "user") return `WANT=${String(victims.uid)}; purge`;
  if (victims.kind === "since")
    return `WANT=${listed(victims.older)}; KEEPERS=${listed(victims.keepers)}; purge`;
  const others = `OTHERS=${listed(victims.otherRoots)}`;
  if (victims.kind === "tree") {
    const { root, older } = victims;
    return `WANT=${listed(older)}; ${others}; ROOT=${quoteWord(root)}; TREE=${listed([root])}; purge`;
  }
  const root = victims.root ?? "none";
  return `WANT=$OLDER; ${others}; ROOT=${root}; TREE=" $WK ${root} "; purge`;
}

function listed(words: readonly string[]): string {
  return quoteWord(` ${words.join(" ")} `);
}

async function limitProcesses(tools: PurgeTools, limit: number): Promise<boolean> {
  try {
    await tools.client.run("POST", `/containers/${tools.containerId}/update`, {
      json: { PidsLimit: limit },
    });
    return true;
  } catch (error) {
    // A daemon without this call (podman) goes on with the rounds alone; the count says what they did.
    if (error instanceof EngineError) return false;
    throw error;
  }
}
