import { timerMs } from "../../core/model/timer-limit.ts";
import type { AgentEnd } from "../../core/outcome/trial-evidence.ts";
import type { OpenModels } from "../../core/ports/model-access.ts";
import { type Command, SandboxError } from "../../core/ports/sandbox.ts";
import {
  Conversation,
  type ConversationPlan,
  planConversation,
  type Round,
} from "../../core/tasks/conversation.ts";
import { systemClock } from "../../host/system-clock.ts";
import { type AgentReport, type AgentRun, NO_USAGE } from "../agents/agent.ts";
import { Redactor } from "../proxy/redact/redactor.ts";
import { type AcpConnection, connectAcp } from "./acp-connection.ts";
import { type EndFacts, endOfFailure, endOfTurn, isClosing } from "./agent-end.ts";
import { AgentLog } from "./agent-log.ts";
import { AgentProcess } from "./agent-process.ts";
import { diagnoseEnd } from "./diagnose-end.ts";
import { initializeAgent, openSession, type SessionPlan } from "./open-session.ts";
import { RoundLog } from "./round-log.ts";
import { Turn, type TurnEnd } from "./run-turn.ts";
import { SessionRecorder } from "./session-recorder.ts";
import { unlessAborted } from "./unless-aborted.ts";

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
  /** Of the person's, beside the trial's token: in no record. */
  readonly secrets?: readonly string[];
  readonly ignoresEnd: boolean;
  readonly times?: AcpTimes;
}

/**
 * Runs an agent on its task over ACP (spec 10): its prompts, its limits over all of them, its end. However
 * it goes, the process is ended before this resolves, and what was seen is in the trajectory. Throws
 * `SandboxError` for a sandbox that failed, and the signal's reason when the trial was stopped.
 */
export async function runAcpAgent(
  launch: AcpLaunch,
  run: AgentRun,
  models: OpenModels,
): Promise<AgentReport> {
  const { token, hidden = { secrets: [], later: [] } } = models;
  const own = [token, ...(launch.secrets ?? []), ...hidden.secrets];
  const redactor = new Redactor(own, hidden.later);
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
  /** Sent, in order. */
  readonly #prompts: string[] = [];
  readonly #plan: ConversationPlan;
  readonly #rounds: RoundLog;
  /** Where the events of the present round begin. */
  #roundStart = 0;

  constructor(parts: TrialParts) {
    const { launch, run, redactor, log, process } = parts;
    this.#parts = parts;
    this.#times = launch.times ?? ACP_TIMES;
    this.#agentName = launch.name;
    const { trajectory } = run;
    this.#plan = run.conversation ?? planConversation(run.spec.task);
    this.#rounds = new RoundLog(this.#plan, run.folder);
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
    await this.#rounds.close();
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

  /** One prompt after another, as long as the agent answers and somebody has more to say. */
  async #converse(): Promise<TurnEnd> {
    const { run, launch } = this.#parts;
    const initialized = initializeAgent(this.#connection, this.#sessionPlan());
    this.#agentName = (await unlessAborted(initialized, run.signal)).agentName;
    const conversation = new Conversation(this.#plan);
    let end: TurnEnd | null = null;
    let sessionId: string | null = null;
    let round = conversation.next("");
    while (round !== null && (end === null || this.#goesOn(end))) {
      if (round.opensSession || sessionId === null) sessionId = await this.#openSession();
      end = await this.#takeRound(round, sessionId);
      round = conversation.next(this.#saidSince(this.#roundStart));
    }
    if (end === null) throw new Error(`nothing was said to ${launch.name}`);
    return end;
  }

  /**
   * Whether a next prompt makes sense. Not after a provider's failure that the agent ended on: a later
   * success would make the work that it cost count (attack 8).
   */
  #goesOn(end: TurnEnd): boolean {
    const { models } = this.#parts;
    if (end.kind !== "answered" || end.stopReason === "max_turn_requests") return false;
    return models.stopped() === null && models.isFailing?.() !== true;
  }

  #sessionPlan(): SessionPlan {
    const { launch, run } = this.#parts;
    const { workdir: cwd } = run;
    return { ...launch.session, agentName: launch.name, cwd, stepMs: this.#times.stepMs };
  }

  async #openSession(): Promise<string> {
    const opening = openSession(this.#connection, this.#sessionPlan());
    const { sessionId } = await unlessAborted(opening, this.#parts.run.signal);
    this.#sessionId = sessionId;
    this.#recorder.startSession();
    return sessionId;
  }

  async #takeRound(round: Round, sessionId: string): Promise<TurnEnd> {
    const { run, models } = this.#parts;
    const { trajectory } = run;
    this.#roundStart = trajectory.events.length;
    const toolCallsBefore = this.#recorder.toolCalls;
    const startedAt = systemClock.now().toISOString();
    const heldMsBefore = models.heldMs();
    const startedMs = systemClock.monotonicMs();
    await trajectory.record({ type: "user_message", text: round.prompt, at_utc: startedAt });
    this.#prompts.push(round.prompt);
    this.#turn ??= this.#newTurn();
    const end = await this.#turn.run(sessionId, round.prompt);
    // What it says is read by the user, and stands before what is said next.
    if (end.kind === "answered") await this.#recorder.settle();
    await this.#rounds.add({
      round,
      toolCalls: this.#recorder.toolCalls - toolCallsBefore,
      events: trajectory.events.length - this.#roundStart,
      startedAt,
      wallMs: systemClock.monotonicMs() - startedMs - (models.heldMs() - heldMsBefore),
    });
    return end;
  }

  /** Its limits are those of all prompts together. */
  #newTurn(): Turn {
    const { run, models, process } = this.#parts;
    const { spec, signal } = run;
    return new Turn({
      connection: this.#connection,
      process,
      recorder: this.#recorder,
      limits: { wallMs: timerMs(spec.agentTimeoutSec * 1000), idleMs: spec.idleTimeoutSec * 1000 },
      moment: () => ({ nowMs: systemClock.monotonicMs(), heldMs: models.heldMs() }),
      modelsGone: () => models.stopped(),
      beforeCancel: () => models.stop("the agent is being stopped"),
      cancelGraceMs: this.#times.cancelGraceMs,
      signal,
    });
  }

  /** The agent's own words to whoever asked, without its thoughts and tools. */
  #saidSince(event: number): string {
    const { events } = this.#parts.run.trajectory;
    const words = events
      .slice(event)
      .flatMap((each) => (each.type === "agent_message" ? [each.text] : []));
    return words.join("\n");
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
    const usage = NO_USAGE;
    const diagnostics = diagnoseEnd(end, {
      facts,
      recorder: this.#recorder,
      times: this.#turn?.timesAtLimit ?? null,
      lastActivityAt: this.#lastActivityAt,
    });
    const counts = { toolCalls, skillInvocations, prompts: [...this.#prompts], usage };
    return { agentName: this.#agentName, end, ...counts, diagnostics, loop: this.#rounds.loop() };
  }
}

function redactedEnd(end: AgentEnd, redactor: Redactor): AgentEnd {
  if (end.kind !== "error") return end;
  return { ...end, error: { ...end.error, message: redactor.text(end.error.message) } };
}
