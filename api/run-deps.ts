import type { OnEvent } from "../core/events/run-event.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { Sha256 } from "../core/ports/hash.ts";
import type { JobStore } from "../core/ports/job-store.ts";
import type { AgentTreeStore } from "../core/ports/agent-trees.ts";
import type { Ledger } from "../core/ports/ledger.ts";
import type { SandboxBackend } from "../core/ports/sandbox.ts";
import type { ProxyLimits } from "../runner/proxy/proxy-options.ts";
import type { RunSpend } from "./run-spend.ts";
import type { JobRun } from "./run-trials.ts";
import type { LoginDeps } from "./subscribed-models.ts";

/** Resolves to the number of trials that ran to their end. */
export type CarryOut = (run: JobRun) => Promise<number>;

/** What planning touches of the world: it reads, and makes nothing. */
export interface PlanDeps {
  readonly store: JobStore;
  readonly clock: Clock;
  readonly sha256: Sha256;
  /** Host variables that a task may be given, and only through `--pass-env`. */
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
  /** A pot's state as it is, without a trace; null where there is no such ledger. */
  readonly readLedger: (pot: string) => Promise<Pick<Ledger, "view"> | null>;
  /** Where providers' keys and base URLs are looked up. */
  readonly modelVariables: Readonly<Record<string, string | undefined>>;
  /** The subscriptions whose logins count; those of this edition unless they are given. */
  readonly services?: LoginDeps["services"];
}

/** A pot of money, and the end of its use by this process. */
export interface OpenLedger {
  readonly ledger: Ledger;
  readonly close: () => Promise<void>;
}

/** What a run touches of the world, its sandboxes apart. `openRunWorld` makes the real one. */
export interface RunWorld extends PlanDeps {
  /** Carries out a repeat's trials; here, one at a place in the queue, unless it is given. */
  readonly carryOut?: CarryOut;
  /** Opens the sandboxes; called once nothing that can be known without them is wrong. */
  readonly openBackend: () => Promise<SandboxBackend>;
  /** Eight hex digits, never the same twice (spec 1.1). */
  readonly newHex8: () => string;
  /** Identity of this process, for leases and the owners of sandboxes. */
  readonly ownerProcess: string;
  /** How long a provider may take, and how often it is asked again, where the defaults do not fit. */
  readonly modelLimits?: Partial<ProxyLimits>;
  /** Where agents' programs are installed. */
  readonly agentTrees: AgentTreeStore;
  /** Opens the ledger beside the run's jobs, with the pot of that name. */
  readonly openLedger: (pot: string) => Promise<OpenLedger>;
  readonly onEvent: OnEvent;
  /** Ends the run cleanly: sandboxes gone, what ended is kept. */
  readonly signal: AbortSignal;
}

/** The world of a run whose sandboxes are open. */
export interface RunDeps extends Omit<RunWorld, "openBackend"> {
  readonly backend: SandboxBackend;
  /** Null for a run whose spending nobody counts. */
  readonly spend: RunSpend | null;
}
