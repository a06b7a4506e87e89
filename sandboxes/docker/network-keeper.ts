import type { Duplex } from "node:stream";
import * as z from "zod";
import { SandboxError, type SandboxOwner } from "../../core/ports/sandbox.ts";
import type { EngineClient } from "./engine-client.ts";
import { hasStatus } from "./engine-error.ts";
import type { Helper, HelperContainers } from "./helper-containers.ts";
import { GATE_PATH, gateProgram, keeperProgram, keeperRequest } from "./helper-program.ts";
import { SERVES_RUN } from "./ownership-labels.ts";
import { readStdioFrames } from "./stdio-frames.ts";

const Inspected = z.looseObject({
  State: z.looseObject({ Running: z.boolean(), Pid: z.int() }),
});

/** Longest wait for an answer, which comes in milliseconds. */
const ANSWER_MS = 30_000;

/** After so many containers that refused or died, each sandbox gets a helper of its own. */
const MAX_FAILURES = 2;

interface Line {
  readonly helper: Helper;
  readonly socket: Duplex;
  /** What the program says, one "ok\n" for each request, in their order. */
  readonly answers: AsyncIterator<string>;
}

/**
 * One container of ours that lives as long as the run and sets rules in the network namespaces of
 * sandboxes, one after the other: a request takes milliseconds, where a helper container for each
 * sandbox takes 200. No process of a sandbox can see or reach it. It may enter any namespace of the
 * daemon's host, so it holds nothing but one program, and that program refuses the host's own.
 */
export class NetworkKeeper {
  readonly #client: EngineClient;
  readonly #helpers: HelperContainers;
  #helper: Promise<Helper | null> | null = null;
  #line: Promise<Line | null> | null = null;
  #turn: Promise<unknown> = Promise.resolve();
  #rested: Promise<void> = Promise.resolve();
  #failures = 0;
  #refusal: string | null = null;
  #isClosed = false;

  constructor(client: EngineClient, helpers: HelperContainers) {
    this.#client = client;
    this.#helpers = helpers;
  }

  /** Why this daemon gave no such container, in its words; null when it did, or was not asked. */
  get refusal(): string | null {
    return this.#refusal;
  }

  /** Of the container, from which the gate's program can be mounted, running or not; null without one. */
  async lenderId(owner: SandboxOwner): Promise<string | null> {
    if (!this.#begin(owner)) return null;
    return (await this.#helper)?.id ?? null;
  }

  /**
   * Sends netlink messages in the network namespace of a running container, whose processes must
   * stand still: so its first process is the one that was looked up. False where this daemon does not
   * let us, or the container is gone: nothing or a part is set then, and the caller has another way.
   */
  async send(
    containerId: string,
    owner: SandboxOwner,
    messages: readonly Buffer[],
  ): Promise<boolean> {
    const turn = this.#turn.then(async () => await this.#sendNow(containerId, owner, messages));
    this.#turn = turn.catch(() => undefined);
    return await turn;
  }

  /** Ends the container, for one to be made when it is needed again. */
  rest(): void {
    this.#rested = this.#turn.then(async () => await this.#drop());
    // A container that cannot be removed is told to whoever closes.
    this.#turn = this.#rested.catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#turn;
    await this.#rested;
    await this.#drop();
  }

  async #sendNow(
    containerId: string,
    owner: SandboxOwner,
    messages: readonly Buffer[],
  ): Promise<boolean> {
    const line = await this.#open(owner);
    if (line === null) return false;
    const pid = await this.#pidOf(containerId);
    if (pid === null) return false;
    line.socket.write(keeperRequest(pid, messages));
    if ((await answerOf(line)) === "ok\n") return true;
    this.#failures += 1;
    await this.#drop();
    return false;
  }

  /** The container, made when there is none; null where that cannot be. */
  async #open(owner: SandboxOwner): Promise<Line | null> {
    return this.#begin(owner) ? await this.#line : null;
  }

  #begin(owner: SandboxOwner): boolean {
    if (this.#isClosed || this.#failures >= MAX_FAILURES) return false;
    this.#helper ??= this.#make(owner);
    this.#line ??= this.#start(this.#helper);
    // Each is told to whoever comes to ask for it.
    for (const asked of [this.#helper, this.#line]) asked.catch(() => undefined);
    return true;
  }

  async #make(owner: SandboxOwner): Promise<Helper | null> {
    const { platform } = this.#helpers;
    return await this.#unlessRefused(null, async () => {
      return await this.#helpers.make({
        program: keeperProgram(platform),
        owner,
        serves: SERVES_RUN,
        network: "host",
        processes: "host",
        uid: 0,
        capabilities: ["NET_ADMIN", "SYS_ADMIN", "SYS_PTRACE"],
        lent: { path: GATE_PATH, program: gateProgram(platform) },
      });
    });
  }

  async #start(made: Promise<Helper | null>): Promise<Line | null> {
    const helper = await made;
    if (helper === null) return null;
    return await this.#unlessRefused(helper, async () => {
      const socket = await helper.open();
      return { helper, socket, answers: linesOf(socket) };
    });
  }

  async #unlessRefused<Value>(
    helper: Helper | null,
    work: () => Promise<Value>,
  ): Promise<Value | null> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error;
      // A daemon in user namespaces shares neither with its host: then each sandbox has its helper.
      this.#failures = MAX_FAILURES;
      this.#refusal = error.message;
      await helper?.remove();
      return null;
    }
  }

  async #drop(): Promise<void> {
    // One that could not be made was told to whoever asked for it, and there is nothing to end.
    const line = await this.#line?.catch(() => null);
    this.#line = null;
    this.#helper = null;
    if (line === null || line === undefined) return;
    line.socket.destroy();
    await line.helper.remove();
  }

  async #pidOf(containerId: string): Promise<number | null> {
    try {
      const path = `/containers/${containerId}/json`;
      const { State } = await this.#client.json(Inspected, "GET", path);
      return State.Running && State.Pid > 0 ? State.Pid : null;
    } catch (error) {
      if (hasStatus(error, 404)) return null;
      throw error;
    }
  }
}

/** The next answer; null when the program has ended, or gives none in time. */
async function answerOf({ answers, socket }: Line): Promise<string | null> {
  const timer = setTimeout(() => socket.destroy(), ANSWER_MS);
  try {
    const next = await answers.next();
    return next.done === true ? null : next.value;
  } catch {
    // A connection that breaks says no more than one that ends.
    return null;
  } finally {
    clearTimeout(timer);
  }
}

async function* linesOf(socket: Duplex): AsyncGenerator<string, void, undefined> {
  for await (const { chunk } of readStdioFrames(socket))
    yield Buffer.from(chunk).toString("latin1");
}
