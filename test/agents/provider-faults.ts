import type { TrialResult } from "../../core/model/trial-result.ts";
import { readModelJob } from "../e2e/model-run.ts";
import { scratchDir } from "../e2e/run-bench.ts";
import type { Fault, ModelScriptInput } from "../fakes/model-server/model-script.ts";
import { startModelServer } from "../fakes/model-server/start-model-server.ts";
import {
  type AgentModel,
  type AgentName,
  type RunWish,
  runTasks,
  SOLVE,
  writeSceneTask,
} from "./trial-scene.ts";

type FaultInput = NonNullable<ModelScriptInput["faults"]>[number];

/** What an outcome comes to, in the words of the table. */
export interface OutcomeClass {
  readonly outcome: string;
  readonly category: TrialResult["error_category"];
}

export interface ProviderFault {
  readonly name: string;
  /** From the second request of the agent's main work on, for ever. */
  readonly fault: FaultInput & { readonly kind: Fault["kind"] };
  readonly expected: OutcomeClass;
}

const OUTAGE: OutcomeClass = { outcome: "unscored: infrastructure", category: "api_error" };
const RATE_LIMIT: OutcomeClass = {
  outcome: "unscored: infrastructure",
  category: "provider_rate_limit",
};

const status = (code: number, headers: Record<string, string> = {}) =>
  ({ kind: "status", status: code, headers, after: 1 }) as const;

/** The rows of issue 4's matrix. Two cuts: of the connection, and a clean end before the answer's own. */
export const FAULTS: readonly ProviderFault[] = [
  {
    name: "429 with Retry-After",
    fault: status(429, { "retry-after": "1" }),
    expected: RATE_LIMIT,
  },
  { name: "429", fault: status(429), expected: RATE_LIMIT },
  { name: "500", fault: status(500), expected: OUTAGE },
  { name: "503", fault: status(503), expected: OUTAGE },
  {
    name: "401",
    fault: status(401),
    expected: { outcome: "unscored: setup", category: "provider_auth" },
  },
  { name: "402", fault: status(402), expected: OUTAGE },
  { name: "hang before headers", fault: { kind: "hang", after: 1 }, expected: OUTAGE },
  { name: "stall mid-stream", fault: { kind: "stall", events: 2, after: 1 }, expected: OUTAGE },
  { name: "reset", fault: { kind: "reset", after: 1 }, expected: OUTAGE },
  { name: "cut without usage", fault: { kind: "cut", events: 2, after: 1 }, expected: OUTAGE },
  { name: "end without usage", fault: { kind: "no-usage", after: 1 }, expected: OUTAGE },
  {
    name: "context overflow 400",
    // A request to make the conversation shorter holds all of it, and is refused as well.
    fault: { kind: "context-overflow", on: "any", after: 1 },
    expected: { outcome: "scored: 1", category: "provider_rejected" },
  },
];

/** The matrix's settings: as the defaults in kind, in seconds what they are in minutes. */
export const SHORT_LIMITS = {
  firstByteMs: 3_000,
  idleMs: 3_000,
  maxHoldMs: 3_000,
  retryMs: 100,
  retryAfterSec: 1,
  failuresInRow: 3,
} as const;

/** The agent's own limit beside them: far beyond what a fault may take. */
export const SHORT_LIMIT_SEC = 180;

/** What a trial under a fault came to. */
export interface FaultCell extends OutcomeClass {
  readonly agent: string;
  readonly fault: string;
  /** How long the agent's phase took; of the agent's own limit `limitSec`. */
  readonly agentSec: number;
  readonly limitSec: number;
  /** Requests that the fault met: the agent's, and with our own further tries at the provider. */
  readonly failed: number;
  readonly atProvider: number;
  /** The verifier's reward, where it was withheld. */
  readonly withheld: number | null;
}

export interface CellWish {
  readonly agent: AgentModel;
  readonly fault: ProviderFault;
  readonly limitSec: number;
  readonly limits?: RunWish["limits"];
}

/**
 * One trial whose agent solves its task with the first answer of its model, and whose provider fails from
 * then on: graded by its workspace alone it would have passed.
 */
export async function runCell({ agent, fault, limitSec, limits }: CellWish): Promise<FaultCell> {
  await using scratch = await scratchDir();
  const server = await startModelServer({
    turns: [{ shell: SOLVE }, { reasoning: "Done?", text: "It is written, and that was all." }],
    faults: [afterSideRequests(fault.fault, agent.agent)],
  });
  try {
    const dir = scratch.path;
    await writeSceneTask(dir, { agentSec: limitSec });
    const { origin } = server;
    await runTasks({ ...agent, dir, origin, ...(limits === undefined ? {} : { limits }) });
    const { trials } = await readModelJob(`${dir}/jobs`);
    const [trial, ...others] = trials;
    if (trial === undefined || others.length > 0) throw new Error("not one trial");
    const { result, rows } = trial;
    const span = result.timing_spans.find(({ phase }) => phase === "agent");
    const met = server.modelRequests().filter((entry) => entry.fault !== null);
    return {
      agent: agent.agent,
      fault: fault.name,
      ...classOf(result),
      agentSec: Math.round(span?.seconds ?? 0),
      limitSec,
      failed: rows.filter(isMet).length,
      atProvider: met.length,
      withheld: result.withheld_rewards?.reward ?? null,
    };
  } finally {
    await server.close();
  }
}

/** Claude asks for a title beside its first request. */
function afterSideRequests(fault: ProviderFault["fault"], agent: AgentName): FaultInput {
  return fault.on === "any" && agent === "claude" ? { ...fault, after: 2 } : fault;
}

function isMet({ purpose, end, status: seen, upstream_status: own }: MetRow): boolean {
  return (
    purpose === "main" && end !== "refused" && !(end === "answered" && seen === 200 && own === 200)
  );
}

type MetRow = Awaited<ReturnType<typeof readModelJob>>["trials"][number]["rows"][number];

function classOf({ outcome, error_category: category }: TrialResult): OutcomeClass {
  return outcome.kind === "scored"
    ? { outcome: `scored: ${String(outcome.reward)}`, category }
    : { outcome: `unscored: ${outcome.fault}`, category };
}
