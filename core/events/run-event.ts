import type { ModelProtocol } from "../model/exchange.ts";
import type { JobPlan, RunPlan } from "../model/plan.ts";
import type { BudgetSummary } from "../model/ledger-budget.ts";
import type { Phase } from "../model/outcome.ts";
import type { TrialRecord } from "../model/record.ts";
import type { JobTrials } from "../results/group-trials.ts";

/** Everything a run tells anyone while it works. The command line, the log and tests read the same. */
export type RunEvent =
  | { readonly type: "run-planned"; readonly plan: RunPlan }
  | { readonly type: "job-started"; readonly job: JobPlan; readonly jobDir: string }
  /** A repeat's trials run in the account from now on; `bench sync` knows them by that name. */
  | { readonly type: "cloud-run-started"; readonly run: string; readonly attempts: number }
  /** The person stopped it; `running` is what the account then still runs of it, read back. */
  | { readonly type: "cloud-run-stopped"; readonly run: string; readonly running: number }
  | {
      readonly type: "trial-started";
      readonly taskName: string;
      readonly rolloutName: string;
      readonly attempt: number;
    }
  | {
      readonly type: "phase-started";
      readonly taskName: string;
      readonly rolloutName: string;
      readonly phase: Phase;
    }
  | { readonly type: "trial-line"; readonly rolloutName: string; readonly line: string }
  | {
      readonly type: "trial-ended";
      readonly record: TrialRecord;
      /** Milliseconds until the next attempt starts; null when this attempt's result stands. */
      readonly retryInMs: number | null;
    }
  | {
      readonly type: "job-ended";
      readonly job: JobPlan;
      readonly jobDir: string;
      /** The job's trials as its folder then has them. */
      readonly trials: JobTrials;
      readonly reused: number;
      readonly ran: number;
      readonly elapsedSec: number;
      /** Of the command's pot; null where nobody counts. */
      readonly budget: BudgetSummary | null;
    }
  /** What the whole command has spent so far: millionths of a dollar, where prices are known, and tokens. */
  | { readonly type: "spent"; readonly microUsd: number; readonly tokens: number }
  /** Which hosts get the provider's key, before anything goes there (attack 3). */
  | {
      readonly type: "key-route";
      readonly keyName: string;
      readonly hosts: readonly string[];
      /** Null where the agent is asked in its own dialect. */
      readonly translation: { readonly from: ModelProtocol; readonly to: ModelProtocol } | null;
    }
  /** An agent's programs are being fetched, once for this machine. */
  | { readonly type: "agent-installing"; readonly name: string }
  | { readonly type: "warning"; readonly message: string };

export type OnEvent = (event: RunEvent) => void;
