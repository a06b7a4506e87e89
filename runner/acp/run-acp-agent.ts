import { timerMs } from "../../core/model/timer-limit.ts";
import type { AgentEnd } from "../../core/outcome/trial-evidence.ts";
import type { OpenModels } from "../../core/ports/model-access.ts";
import { type Command, SandboxError } from "../../core/ports/sandbox.ts";
import { systemClock } from "../../host/system-clock.ts";
import { type AgentReport, type AgentRun, NO_USAGE } from "../agents/agent.ts";
import { Redactor } from "../proxy/redact/redactor.ts";
import { type AcpConnection, connectAcp } from "./acp-connection.ts";
import { type EndFacts, endOfFailure, endOfTurn, isClosing } from "./agent-end.ts";
import { AgentLog } from "./agent-log.ts";
import { AgentProcess } from "./agent-process.ts";
import { diagnoseEnd } from "./diagnose-end.ts";
import { openSession, type SessionPlan } from "./open-session.ts";
import { Turn, type TurnEnd } from "./run-turn.ts";
import { SessionRecorder } from "./session-recorder.ts";

export interface AcpTimes {
  /** Of each step before the first prompt; generous, since a loaded machine starts slowly. */
  readonly stepMs: number;
  readonly cancelGraceMs: number;
  readonly inputEndMs: number;
}

/** notes on agents, 5 and 6: how long a start took at load 20, and what has to follow a stop. */
export const ACP_TIMES: AcpTimes = { stepMs: 120_000, cancelGraceMs: 5_000, inputEndMs: 3_000 };

/** From the end of an agent's output to its exit code, which tells why. */
const EXIT_MS = 1_000;

/** One agent's program, ready to be started in one sandbox. */
export interface AcpLaunch {
  readonly name: string;
  readonly command: Pick<Command, "argv" | "env">;
  readonly session: Omit<SessionPlan, "stepMs" | "agentName" | "cwd">;
  readonly ignoresEnd: boolean;
  readonly times?: AcpTimes;
}

/**
 * Runs an agent on its task over ACP (spec 10): one session, one prompt, its limits, its end. However
 * it goes, the process is ended before this resolves, and what was seen is in the trajectory. Throws
 * `SandboxError` for a sandbox that failed, and the signal's reason when the trial was stopped.
 */
export async function runAcpAgent(
  launch: AcpLaunch,
  run: AgentRun,
  models: OpenModels,
): Promise<AgentReport> {
  const redactor = new Redactor([models.token]);
  const log = new AgentLog(await run.folder.append(`agent/${launch.name}.txt`), redactor);
  try {
    run.signal.throwIfAborted();
    const { uid, workdir: cwd } = run;
    const process = await AgentProcess.start(run.sandbox, { ...launch.command, uid, cwd }, log);
    return await new AcpTrial({ launch, run, models, redactor, log, process }).run();
  } finally {
    await log.close();
  }
}

interface TrialParts {
  readonly launch: AcpLaunch;
  readonly run: AgentRun;
  readonly models: OpenModels;
  readonly redactor: Redactor;
  readonly log: AgentLog;
  readonly process: AgentProcess;
}

class AcpTrial {
  readonly #parts: TrialParts;
  readonly #times: AcpTimes;
  readonly #recorder: SessionRecorder;
  readonly #connection: AcpConnection;
  #agentName: string;
  #sessionId: string | null = null;
  #turn: Turn | null = null;
  #turnEnd: TurnEnd | null = null;
  #lastActivityAt: string | null = null;

  constructor(parts: TrialParts) {
    const { launch, run, redactor, log, process } = parts;
    this.#parts = parts;
    this.#times = launch.times ?? ACP_TIMES;
    this.#agentName = launch.name;
    const { trajectory } = run;
    this.#recorder = new SessionRecorder({ trajectory, redactor, now: () => systemClock.now() });
    this.#connection = connectAcp(process.process, {
      onUpdate: (update) => {
        const isOurs = update.sessionId === this.#sessionId;
        if (isOurs && this.#recorder.take(update)) this.#noteActivity();
      },
      onPermission: () => this.#noteActivity(),
      onNoise: (text) => log.line(text),
    });
  }

  async run(): Promise<AgentReport> {
    const { run, process, redactor } = this.#parts;
    let thrown: unknown = null;
    try {
      this.#turnEnd = await this.#converse();
    } catch (error) {
      thrown = error;
    }
    const failure = this.#turnEnd?.kind === "failed" ? this.#turnEnd.thrown : thrown;
    if (isClosing(failure)) await process.awaitExit(EXIT_MS);
    await this.#end();
    run.signal.throwIfAborted();
    const facts = await this.#facts();
    const end =
      this.#turnEnd === null ? endOfFailure(thrown, facts) : endOfTurn(this.#turnEnd, facts);
    return this.#report(redactedEnd(end, redactor), facts);
  }

  #noteActivity(): void {
    this.#lastActivityAt = systemClock.now().toISOString();
    this.#turn?.noteActivity();
  }

  async #converse(): Promise<TurnEnd> {
    const { launch, run, models, process } = this.#parts;
    const { spec, signal, trajectory, workdir: cwd } = run;
    const { stepMs, cancelGraceMs } = this.#times;
    const plan = { ...launch.session, agentName: launch.name, cwd, stepMs };
    const session = await unlessAborted(openSession(this.#connection, plan), signal);
    this.#agentName = session.agentName;
    this.#sessionId = session.sessionId;
    const { prompt: text } = spec.task;
    const at = systemClock.now().toISOString();
    await trajectory.record({ type: "user_message", text, at_utc: at });
    this.#turn = new Turn({
      connection: this.#connection,
      process,
      recorder: this.#recorder,
      limits: { wallMs: timerMs(spec.agentTimeoutSec * 1000), idleMs: spec.idleTimeoutSec * 1000 },
      moment: () => ({ nowMs: systemClock.monotonicMs(), heldMs: models.heldMs() }),
      modelsGone: () => models.stopped(),
      beforeCancel: () => models.stop("the agent is being stopped"),
      cancelGraceMs,
      signal,
    });
    return await this.#turn.run(session.sessionId, text);
  }

  /** Ends the process, and only then the record of what it may still have been saying. */
  async #end(): Promise<void> {
    const { launch, run, process } = this.#parts;
    const isBusy = this.#recorder.pendingToolCalls().length > 0;
    const isHurried = run.signal.aborted || (launch.ignoresEnd && isBusy);
    try {
      await process.end({ inputEndMs: isHurried ? 0 : this.#times.inputEndMs });
    } catch (thrown) {
      // A sandbox that is gone has no process left; whoever uses it next is told, with the type.
      if (!(thrown instanceof SandboxError)) throw thrown;
    }
    const end = this.#turnEnd;
    const isCancelled = end !== null && end.kind !== "answered" && end.kind !== "failed";
    await this.#recorder.settle({ cancelled: isCancelled });
    if (end?.kind === "limit" && end.limit === "wall-clock")
      await run.trajectory.record({
        type: "agent_timeout",
        reason: "wall_clock_timeout",
        timeout_sec: run.spec.agentTimeoutSec,
        pending_tool_call_ids: [...end.pending],
        terminal_trajectory_complete: end.pending.length === 0,
      });
  }

  async #facts(): Promise<EndFacts> {
    const { run, process } = this.#parts;
    const { oomKills } = await run.sandbox.stats();
    return {
      exitCode: process.exitCode,
      hasActivity: this.#recorder.hasActivity,
      isPrompted: this.#turn !== null,
      oomKills,
      wallSec: run.spec.agentTimeoutSec,
      idleSec: run.spec.idleTimeoutSec,
    };
  }

  #report(end: AgentEnd, facts: EndFacts): AgentReport {
    const { toolCalls, skillInvocations } = this.#recorder;
    const prompts = this.#turn === null ? [] : [this.#parts.run.spec.task.prompt];
    const usage = NO_USAGE;
    const diagnostics = diagnoseEnd(end, {
      facts,
      recorder: this.#recorder,
      times: this.#turn?.timesAtLimit ?? null,
      lastActivityAt: this.#lastActivityAt,
    });
    const counts = { toolCalls, skillInvocations, prompts, usage };
    return { agentName: this.#agentName, end, ...counts, diagnostics };
  }
}

function redactedEnd(end: AgentEnd, redactor: Redactor): AgentEnd {
  if (end.kind !== "error") return end;
  return { ...end, error: { ...end.error, message: redactor.text(end.error.message) } };
}

/** Rejects with the signal's reason as soon as it is aborted; the work itself goes on, to be ended. */
async function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  const listening = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    const { signal: until } = listening;
    signal.addEventListener("abort", () => reject(signal.reason), { signal: until });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    listening.abort();
  }
}
