import { asSandboxError, hasStatus } from "./engine-error.ts";
import type { EngineClient } from "./engine-client.ts";

const TRIES = 10;

/**
 * Holds all processes of a container still while its files are read: an archive of a file that
 * shrinks meanwhile is no archive. Nested and parallel uses share one pause.
 */
export class Freezer {
  readonly #client: EngineClient;
  readonly #containerId: string;
  #users = 0;
  #change: Promise<void> = Promise.resolve();
  #wake: (() => void)[] = [];

  constructor(client: EngineClient, containerId: string) {
    this.#client = client;
    this.#containerId = containerId;
  }

  async freeze(): Promise<void> {
    this.#users += 1;
    if (this.#users === 1) this.#change = this.#change.then(() => this.#call("pause"));
    try {
      await this.#change;
    } catch (error) {
      this.#users -= 1;
      this.#change = Promise.resolve();
      throw error;
    }
  }

  async thaw(): Promise<void> {
    this.#users -= 1;
    if (this.#users > 0) return;
    this.#change = this.#change.then(() => this.#call("unpause"));
    try {
      await this.#change;
    } finally {
      this.#change = Promise.resolve();
      for (const wake of this.#wake.splice(0)) wake();
    }
  }

  /** Resolves when the processes run, so that one of them can answer. */
  async whenThawed(): Promise<void> {
    while (this.#users > 0)
      await new Promise<void>((resolve) => {
        this.#wake.push(resolve);
      });
  }

  async #call(change: "pause" | "unpause"): Promise<void> {
    for (let tries = 1; ; tries += 1)
      try {
        await this.#client.run("POST", `/containers/${this.#containerId}/${change}`);
        return;
      } catch (error) {
        // The freezer of control groups, version 1, gives up on processes that fork meanwhile.
        const mayPass = hasStatus(error, 500) && tries < TRIES;
        if (!mayPass) throw asSandboxError(error, "lost", `cannot ${change} the sandbox`);
        await new Promise((resolve) => {
          setTimeout(resolve, tries * 50);
        });
      }
  }
}
