import type { SpendClaim, SpendDecision, SpendGate } from "../../core/ports/spend-gate.ts";
import type { AgentResponse } from "./agent-response.ts";
import type { CallGuard } from "./call-guard.ts";
import type { CallRecord } from "./call-record.ts";
import type { ProxyContext } from "./proxy-context.ts";

/** A held request of one agent: who waits, and how it is told that it is not forgotten. */
export interface HeldCall {
  readonly record: CallRecord;
  readonly agent: AgentResponse;
  readonly guard: CallGuard;
}

export type Reservation =
  | Extract<SpendDecision, { kind: "lease" | "refused" }>
  /** The pot did not decide within the time that a request may be held. */
  | { readonly kind: "held-too-long" };

/**
 * Asks the gate for a call's worst case and waits with the agent's request while others' calls are
 * open. The wait counts as held time. Rejects when the gate does, or when the call is stopped.
 */
export async function reserveSpend(
  context: ProxyContext,
  held: HeldCall,
  claim: SpendClaim,
): Promise<Reservation> {
  const { clock, limits, state } = context;
  const deadline = clock.monotonicMs() + limits.firstByteMs;
  const leftMs = (): number => Math.max(0, deadline - clock.monotonicMs());
  return holdWhile(context, held, async () => {
    const { signal } = held.guard;
    // What earlier calls left over must be back in the pot before it is asked.
    if ((await within(state.settled(), leftMs(), signal)) === LATE) return HELD_TOO_LONG;
    for (;;) {
      const decision = await askGate(context, held, { claim, leftMs: leftMs() });
      if (decision === LATE) return HELD_TOO_LONG;
      if (decision.kind !== "wait") return decision;
      if (leftMs() === 0) return HELD_TOO_LONG;
      await clock.sleep(Math.min(decision.retryAfterMs, leftMs()), signal);
    }
  });
}

const HELD_TOO_LONG = { kind: "held-too-long" } as const;
const LATE = Symbol("late");

/** One question to the gate. An answer that comes when nobody waits any more is given back. */
async function askGate(
  { gate, state }: ProxyContext,
  { guard }: HeldCall,
  { claim, leftMs }: { readonly claim: SpendClaim; readonly leftMs: number },
): Promise<SpendDecision | typeof LATE> {
  const asked = gate.reserve(claim, guard.signal);
  let isTaken = false;
  try {
    const decision = await within(asked, leftMs, guard.signal);
    isTaken = decision !== LATE;
    return decision;
  } finally {
    if (!isTaken) state.trackSettlement(giveBack(gate, asked));
  }
}

async function giveBack(gate: SpendGate, asked: Promise<SpendDecision>): Promise<void> {
  const decision = await asked.catch(() => null);
  if (decision?.kind === "lease") await gate.settle(decision.lease, { kind: "unused" });
}

/** The promise's value, `LATE` after `ms`, or a rejection as soon as the signal is aborted. */
async function within<T>(
  promise: Promise<T>,
  ms: number,
  signal: AbortSignal,
): Promise<T | typeof LATE> {
  signal.throwIfAborted();
  let giveUp = ignore;
  let timer: NodeJS.Timeout | undefined;
  const ended = new Promise<typeof LATE>((resolve, reject) => {
    giveUp = () => reject(signal.reason);
    signal.addEventListener("abort", giveUp);
    timer = setTimeout(resolve, ms, LATE);
  });
  try {
    return await Promise.race([promise, ended]);
  } finally {
    signal.removeEventListener("abort", giveUp);
    clearTimeout(timer);
  }
}

function ignore(): void {}

/** Does `work` while the agent waits: a stream gets heartbeats, the time is counted as held. */
export async function holdWhile<T>(
  { state, limits }: ProxyContext,
  { record, agent }: HeldCall,
  work: () => Promise<T>,
): Promise<T> {
  const call = record.prepared;
  const beat = setInterval(() => {
    if (call !== null && call.facts.stream) agent.heartbeat(call.protocol);
  }, limits.heartbeatMs);
  try {
    const { value, heldMs } = await state.held.during(work);
    record.heldMs += heldMs;
    return value;
  } finally {
    clearInterval(beat);
  }
}
