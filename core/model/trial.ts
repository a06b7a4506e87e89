import * as z from "zod";
import { Limit, Phase } from "./outcome.ts";
import { SandboxKind } from "./settings.ts";
import { Task } from "./task.ts";

/**
 * What identifies a trial inside one job: the task, its digest, the digest of its build context and
 * the settings digest (attack 24). A result under another key is another measurement. The task's
 * digest is the contract's and sees neither modes nor links (spec 7); the context's sees both.
 */
export const TrialKey = z.object({
  taskName: z.string(),
  taskDigest: z.string(),
  /** Null for a task that starts from a prebuilt image: its reference is in the task's digest. */
  contextDigest: z.string().nullable(),
  settingsDigest: z.string(),
});
export type TrialKey = z.infer<typeof TrialKey>;

/** One execution of a trial: everything the runner needs, as data that may cross to another machine. */
export const AttemptSpec = z.object({
  task: Task,
  settingsDigest: z.string(),
  /** 1 for the first; a retry or a resume makes the next one in a new folder. */
  attempt: z.int().min(1),
  /** `<task>__<8 hex>`, the attempt's folder (spec 1.1). */
  rolloutName: z.string(),
  jobName: z.string(),
  runId: z.string(),
  agent: z.string(),
  model: z.string().nullable(),
  environment: SandboxKind,
  agentTimeoutSec: z.number().positive(),
  verifierTimeoutSec: z.number().positive(),
  idleTimeoutSec: z.number().min(0),
  lenientRewards: z.boolean(),
  saveOutputs: z.boolean(),
  /** Set when an earlier attempt's saved workspace only has to be verified again: its rollout name. */
  verifyOnlyFrom: z.string().nullable(),
  /** How often the verifier gave no verdict in this trial's attempts before this one; absent for 0. */
  earlierVerifierFailures: z.int().min(0).optional(),
});
export type AttemptSpec = z.infer<typeof AttemptSpec>;

/** A phase's share of the trial's time. The spans of a trial add up to its total. */
export const PhaseSpan = z.object({
  phase: Phase,
  startedAt: z.string(),
  seconds: z.number().min(0),
});
export type PhaseSpan = z.infer<typeof PhaseSpan>;

/** What a trial asked for and what it used at most; null where the backend cannot tell. */
export const Resources = z.object({
  cpus: z.number(),
  memory_mb: z.number(),
  storage_mb: z.number(),
  peak_memory_bytes: z.number().nullable(),
  oom_kills: z.number().nullable(),
  cpu_seconds: z.number().nullable(),
  disk_bytes: z.number().nullable(),
});
export type Resources = z.infer<typeof Resources>;

/**
 * What hardening found between the agent's end and the tests, as far as every reader must know it; the
 * whole lists are in verifier/hardening.json. It never changes a score.
 */
export const Hardening = z.object({
  /**
   * `suspect`: something that only root can write changed, or the agent made a file that its verifier
   * would load in the place of something that judges. `partly watched`, `not watched`: nothing did
   * where changes were looked for.
   */
  integrity: z.enum(["clean", "suspect", "partly watched", "not watched"]),
  /** Why it is suspect, a line each, at most 20. */
  suspects: z.array(z.string()),
  more_suspects: z.int().min(0),
  /** Files that configure builds or tests and that the agent added, changed or removed. */
  changed_configs: z.array(z.string()),
  /** Planted code, bytecode, links and jobs that were removed before the tests. */
  removed: z.int().min(0),
  /** What was not hardened or watched, and why; empty when all was. */
  not_done: z.array(z.string()),
});
export type Hardening = z.infer<typeof Hardening>;

/** How the verifier has fared with this trial's work (attack 32). */
export const Verification = z.object({
  /** The attempt whose saved work was verified again; null when this attempt's agent worked. */
  verify_only_from: z.string().nullable(),
  /** That saved work is damaged or gone: no later attempt can verify it either. */
  refused: z.boolean(),
  /**
   * How often the verifier gave no verdict: in this attempt and in those of the trial before it, whose
   * workspaces are the same where they were saved and the same agent's where not.
   */
  failures: z.int().min(0),
  /**
   * Whether the same verifier gave a verdict on the nop control's workspace, in a job of the same jobs
   * folder. Null when it was not asked (`failures` below 2) or no such control is there.
   */
  works_on_nop: z.boolean().nullable(),
  /**
   * How the agent's work ended, for a later attempt that only verifies it: its limit, the exit code of a
   * program that ended by itself, and whether the result's `error` is the agent's own. Absent where no
   * agent worked, and in results that were written before it was.
   */
  agent_end: z
    .object({
      limit: Limit.nullable(),
      exit_code: z.int().nullable(),
      has_error: z.boolean(),
    })
    .optional(),
});
export type Verification = z.infer<typeof Verification>;

/** Which walls held while the trial ran: recorded, never assumed. */
export const Isolation = z.object({
  backend: SandboxKind,
  /** Digest or id of the image as built; `host` for local. */
  image: z.string(),
  image_digest: z.string().nullable(),
  platform: z.string(),
  uid_separation: z.boolean(),
  no_new_privs: z.boolean(),
  network_agent: z.string(),
  network_verifier: z.string(),
  seccomp: z.string(),
  notes: z.array(z.string()),
  /** Null where the trial ended before it was hardened, and in results from before it was recorded. */
  hardening: Hardening.nullable().default(null),
});
export type Isolation = z.infer<typeof Isolation>;
