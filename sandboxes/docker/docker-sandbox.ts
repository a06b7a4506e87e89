import {
  type ByteStream,
  type Command,
  type Completed,
  type ForwardedPort,
  type NetworkPolicy,
  type ProcessMark,
  type Sandbox,
  SandboxError,
  type SandboxProcess,
  type SandboxStats,
} from "../../core/ports/sandbox.ts";
import type { RunInside } from "./archive-inside.ts";
import type { ControlChannel } from "./control-channel.ts";
import { endProcesses, type Victims } from "./end-processes.ts";
import type { EngineClient } from "./engine-client.ts";
import { ExecSession } from "./exec-session.ts";
import { checkCommand } from "./exec-wrapper.ts";
import { Freezer } from "./freezer.ts";
import { getArchive } from "./get-archive.ts";
import { putArchive } from "./put-archive.ts";
import { readStats } from "./read-stats.ts";
import { type CommandHost, runCommand, runInWorker, type StartedSession } from "./run-command.ts";
import type { NetworkTools } from "./sandbox-network.ts";
import { spawnProcess } from "./spawn-process.ts";
import type { Ask } from "./walk-path.ts";

/** What the backend knows of a container that it has started. */
export interface StartedContainer {
  readonly id: string;
  readonly client: EngineClient;
  readonly control: ControlChannel;
  readonly pidsLimit: number;
  readonly isolation: Sandbox["isolation"];
  /** Puts the container on the open internet behind a guard, or takes it off every network. */
  readonly setNetwork: (policy: NetworkPolicy, tools: NetworkTools) => Promise<void>;
  /** Kills all of a user at once, from a container beside this one. */
  readonly killFromOutside: (uid: number) => Promise<void>;
  /** Opens a port of its loopback, from a container beside this one. */
  readonly openRelay: (socketPath: string) => Promise<ForwardedPort>;
  readonly renewLease: (leaseMs: number) => Promise<void>;
  /** Removes the container and proves it gone. */
  readonly remove: () => Promise<void>;
}

/** A running container, spoken to through its supervisor where that is cheap and through the daemon elsewhere. */
export class DockerSandbox implements Sandbox {
  readonly id: string;
  readonly isolation: Sandbox["isolation"];
  readonly #container: StartedContainer;
  readonly #freezer: Freezer;
  readonly #running = new Map<ExecSession, string | null>();
  readonly #ending = new AbortController();
  readonly #ports = new Set<ForwardedPort>();
  #starting = 0;
  #destroyed: Promise<void> | null = null;

  constructor(container: StartedContainer) {
    this.id = container.id;
    this.isolation = container.isolation;
    this.#container = container;
    this.#freezer = new Freezer(container.client, container.id);
  }

  async exec(command: Command): Promise<Completed> {
    checkCommand(command);
    this.#assertOpen();
    return await this.#orLost(runCommand(this.#host(), command));
  }

  async spawn(command: Command): Promise<SandboxProcess> {
    checkCommand(command);
    this.#assertOpen();
    return await this.#orLost(spawnProcess(this.#host(), command));
  }

  async put(tar: ByteStream, dir: string): Promise<void> {
    this.#assertOpen();
    await this.#freezer.whenThawed();
    const { client, id } = this.#container;
    const target = { client, containerId: id, ask: this.#ask, runInside: this.#runInside };
    await this.#orLost(putArchive(target, { tar, dir }));
  }

  async *get(path: string): ByteStream & AsyncGenerator<Uint8Array, void, undefined> {
    this.#assertOpen();
    const { client, id } = this.#container;
    const source = {
      client,
      containerId: id,
      ask: this.#ask,
      runInside: this.#runInside,
      freezer: this.#freezer,
      signal: this.#ending.signal,
      isBusy: async () => (await this.#askLine("count")).at(-1) !== "0",
    };
    try {
      yield* getArchive(source, path);
    } catch (error) {
      if (this.#destroyed !== null) throw lost("it was destroyed");
      throw error;
    }
  }

  async network(policy: NetworkPolicy): Promise<void> {
    this.#assertOpen();
    await this.#orLost(
      this.#container.setNetwork(policy, { ask: this.#ask, freezer: this.#freezer }),
    );
  }

  async forward(socketPath: string): Promise<ForwardedPort> {
    this.#assertOpen();
    const port = await this.#orLost(this.#container.openRelay(socketPath));
    this.#ports.add(port);
    return port;
  }

  async killUser(uid: number): Promise<number> {
    this.#assertOpen();
    return await this.#orLost(this.#purge({ kind: "user", uid }));
  }

  async killSince(mark: ProcessMark): Promise<number> {
    this.#assertOpen();
    return await this.#orLost(
      this.#purge({ kind: "since", older: mark.processes, keepers: mark.keepers ?? [] }),
    );
  }

  async mark(): Promise<ProcessMark> {
    this.#assertOpen();
    return { processes: await this.#orLost(this.#look()) };
  }

  async stats(): Promise<SandboxStats> {
    this.#assertOpen();
    const { client, id } = this.#container;
    return await this.#orLost(readStats(client, id, this.#ask));
  }

  async renew(leaseMs: number): Promise<void> {
    this.#assertOpen();
    await this.#orLost(this.#container.renewLease(leaseMs));
  }

  async destroy(): Promise<void> {
    this.#destroyed ??= this.#end();
    try {
      await this.#destroyed;
    } catch (error) {
      // A removal that failed may be tried again.
      this.#destroyed = null;
      throw error;
    }
  }

  async #end(): Promise<void> {
    // The daemon removes nothing that it is still reading for someone.
    this.#ending.abort(lost("it was destroyed"));
    await Promise.all([...this.#ports].map((port) => port.close()));
    // Of a container that has ended the daemon need not kill anything: it is gone sooner.
    await this.#container.control.hangUp();
    await this.#container.remove();
    this.#container.control.close();
  }

  readonly #ask: Ask = async (line) => {
    await this.#freezer.whenThawed();
    return await this.#container.control.request(line);
  };

  readonly #runInside: RunInside = async (line, limits) =>
    await runInWorker(this.#host(), line, limits);

  async #askLine(verb: string): Promise<readonly string[]> {
    return await this.#ask((sequence) => Buffer.from(`${verb} ${sequence}\n`));
  }

  async #look(): Promise<readonly string[]> {
    return (await this.#askLine("mark")).filter((part) => part !== "");
  }

  async #purge(victims: Victims): Promise<number> {
    await this.#freezer.whenThawed();
    const { client, control, id, pidsLimit, killFromOutside } = this.#container;
    const isAlone = (): boolean => this.#starting === 0;
    const tools = { client, control, containerId: id, pidsLimit, isAlone, killFromOutside };
    return await endProcesses(tools, victims);
  }

  #host(): CommandHost {
    return {
      control: this.#container.control,
      start: async (command, hasStdin) => await this.#start(command, hasStdin),
      end: async (victims) => {
        const left = await this.#purge(victims);
        if (left > 0) throw new SandboxError("lost", `${String(left)} processes cannot be killed`);
      },
      otherRoots: (except) =>
        [...this.#running.values()].filter((pid) => pid !== null && pid !== except).map(String),
      assertAlive: async () => {
        await this.#assertAlive();
      },
    };
  }

  async #start(command: Command, hasStdin: boolean): Promise<StartedSession> {
    const { client, id } = this.#container;
    this.#starting += 1;
    try {
      // Who is there before the command starts cannot be its child.
      const older = await this.#look();
      const session = await ExecSession.start(client, id, command, hasStdin);
      this.#running.set(session, null);
      void this.#follow(session);
      return { session, older };
    } finally {
      this.#starting -= 1;
    }
  }

  async #follow(session: ExecSession): Promise<void> {
    const pid = await session.pid();
    if (this.#running.has(session)) this.#running.set(session, pid);
    await session.ended;
    this.#running.delete(session);
  }

  #assertOpen(): void {
    if (this.#destroyed !== null) throw lost("it was destroyed");
    if (this.#container.control.isClosed) throw lost("its container has ended");
  }

  /** Asks the supervisor: processes of a dying container end before the daemon calls it dead. */
  async #assertAlive(): Promise<void> {
    this.#assertOpen();
    await this.#askLine("count");
  }

  /** A call that fails while the sandbox is going away fails as `lost`, whatever broke first. */
  async #orLost<Value>(call: Promise<Value>): Promise<Value> {
    try {
      return await call;
    } catch (error) {
      if (error instanceof SandboxError && error.failure !== "unsafe-path") this.#assertOpen();
      throw error;
    }
  }
}

function lost(reason: string): SandboxError {
  return new SandboxError("lost", `sandbox lost: ${reason}`);
}
