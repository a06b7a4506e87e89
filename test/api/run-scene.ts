import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { createLedger } from "../../core/ledger/create-ledger.ts";
import type { LedgerItem } from "../../core/model/ledger-update.ts";
import type { Deaths } from "../../core/ports/ledger.ts";
import type { RunEvent } from "../../core/events/run-event.ts";
import type { TrialRecord } from "../../core/model/record.ts";
import type { RunSettingsInput } from "../../core/model/settings.ts";
import { evaluationFile } from "../../core/plan/evaluation-file.ts";
import { readEarlierAttempt } from "../../core/plan/read-earlier-jobs.ts";
import type { JobFolder } from "../../core/ports/job-store.ts";
import { identifyProcess } from "../../host/process-identity.ts";
import { planBenchmark, readPlanInput } from "../../api/plan-benchmark.ts";
import type { RunWorld } from "../../api/run-deps.ts";
import { runTrials } from "../../api/run-trials.ts";
import type { Agent } from "../../runner/agents/agent.ts";
import { chooseAgent } from "../../runner/agents/choose-agent.ts";
import { sha256, someSettings } from "../core/plan/plan-builders.ts";
import { FakeClock } from "../fakes/fake-clock.ts";
import { MemoryLedgerStore } from "../fakes/memory-ledger.ts";
import { MemorySandboxes } from "../fakes/memory-sandboxes/memory-sandboxes.ts";
import { MemoryJobStore } from "../fakes/memory-store.ts";
import { type TaskPlay, trialPrograms } from "../fakes/trial-programs.ts";
import { GOOD, tempFolder, writeFiles } from "../stores/task-folders/temp-tasks.ts";

export interface SceneWish {
  /** What each task does; its names are the tasks. */
  readonly plays: Readonly<Record<string, TaskPlay>>;
  readonly store?: MemoryJobStore;
  readonly backend?: MemorySandboxes;
  readonly env?: Readonly<Record<string, string>>;
  /** Of all pots, to be shared by the commands of one test. */
  readonly ledgerItems?: Map<string, LedgerItem>;
}

const ALIVE: Deaths = { stateOf: async () => "alive" };

/** A world in memory around real task folders. */
export interface Scene {
  readonly tasksDir: string;
  readonly store: MemoryJobStore;
  readonly backend: MemorySandboxes;
  readonly clock: FakeClock;
  readonly events: RunEvent[];
  readonly world: RunWorld;
  /** The person's stop. */
  readonly stop: () => void;
}

export async function aScene({ plays, ...wish }: SceneWish): Promise<Scene> {
  const tasksDir = join(await tempFolder(), "tasks");
  for (const name of Object.keys(plays)) await writeFiles(join(tasksDir, name), GOOD);
  const { store = new MemoryJobStore() } = wish;
  const { backend = new MemorySandboxes({ programs: trialPrograms(plays) }) } = wish;
  const clock = new FakeClock();
  const events: RunEvent[] = [];
  const stop = new AbortController();
  const { ledgerItems = new Map() } = wish;
  let names = 0;
  const world: RunWorld = {
    openBackend: async () => backend,
    store,
    clock,
    sha256,
    hostEnv: wish.env ?? {},
    modelVariables: wish.env ?? {},
    newHex8: () => (names += 1).toString(16).padStart(8, "0"),
    ownerProcess: identifyProcess(),
    agentTrees: { open: () => Promise.reject(new Error("controls install nothing")) },
    readLedger: async (pot) =>
      createLedger({ store: new MemoryLedgerStore(ledgerItems), pot, deaths: ALIVE }),
    openLedger: async (pot) => ({
      ledger: createLedger({ store: new MemoryLedgerStore(ledgerItems), pot, deaths: ALIVE }),
      close: async () => undefined,
    }),
    onEvent: (event) => void events.push(event),
    signal: stop.signal,
  };
  return { tasksDir, store, backend, clock, events, world, stop: () => stop.abort("stopped") };
}

/** The trials of one new job, running. */
export interface Running {
  readonly ended: Promise<number>;
  readonly folder: JobFolder;
  /** Every attempt that was sealed, in the order in which it was made. */
  readonly records: () => Promise<TrialRecord[]>;
}

export async function startTrials(
  { world, backend, tasksDir }: Scene,
  over: Partial<RunSettingsInput> = {},
  agent?: Agent,
): Promise<Running> {
  const settings = someSettings({ tasksDir, ...over });
  const input = await readPlanInput(settings, world);
  const plan = planBenchmark(input, backend.caps);
  const [job] = plan.jobs;
  if (job === undefined) throw new Error("a plan without a job");
  const evaluation = evaluationFile(plan, job, world.clock.now());
  const request = { ...job, mode: "new", evaluation } as const;
  const folder = await world.store.openJob(request);
  const deps = { ...world, backend, spend: null };
  const chosen = agent ?? chooseAgent(settings.agent);
  const run = { plan, job, folder, agent: chosen, deps, notStarted: new Set<string>() };
  const ended = runTrials(run);
  // Awaited by the test, which may look at other things first.
  ended.catch(() => undefined);
  return { ended, folder, records: async () => await recordsIn(folder) };
}

async function recordsIn(folder: JobFolder): Promise<TrialRecord[]> {
  const records: TrialRecord[] = [];
  for await (const stored of folder.attempts()) {
    const attempt = readEarlierAttempt(stored);
    if (attempt.kind === "ended") records.push(attempt.record);
  }
  return records.toSorted((a, b) => (a.rolloutName.slice(-8) < b.rolloutName.slice(-8) ? -1 : 1));
}

/** Lets everything happen that needs no time to pass, until the condition holds; fails after seconds. */
export async function until(holds: () => boolean): Promise<void> {
  const giveUpMs = performance.now() + 10_000;
  while (!holds()) {
    if (performance.now() > giveUpMs) throw new Error(`never: ${String(holds)}`);
    await setImmediate();
  }
}

/** Category and fault of an unscored record, or its reward. */
export function verdictOf({ outcome }: TrialRecord): string | number {
  return outcome.kind === "scored" ? outcome.reward : `${outcome.category} (${outcome.fault})`;
}
