import { setTimeout as delay } from "node:timers/promises";
import * as z from "zod";
import { awsFailure, refusalOf } from "../../aws/aws-error.ts";
import { BenchError } from "../../core/errors.ts";
import type { CloudAccount } from "./cloud-account.ts";

/** What the state machine gets: pointers. */
export interface SweepInput {
  readonly run: string;
  readonly items: string;
  /** Trials at a time. */
  readonly width: number;
}

const POLL_MS = 5000;
const FIRST_POLL_MS = 300;
/** The service stops a sweep in seconds; longer, and its user is told that it did not. */
const STOP_LIMIT_MS = 60_000;
const Started = z.object({ executionArn: z.string() });
const Described = z.object({
  status: z.string(),
  error: z.string().optional(),
  cause: z.string().optional(),
});

/** A sweep of the account, from its start to its end. */
export class Sweep {
  readonly #account: CloudAccount;
  readonly arn: string;
  #isRunning = true;

  private constructor(account: CloudAccount, arn: string) {
    this.#account = account;
    this.arn = arn;
  }

  /** The run's name is the execution's: the service itself starts no run twice. */
  static async start(account: CloudAccount, input: SweepInput): Promise<Sweep> {
    const start = {
      stateMachineArn: account.stack.OutSweep,
      name: input.run,
      input: JSON.stringify(input),
    };
    try {
      const sfn = await account.services.sfn();
      return new Sweep(account, Started.parse(await sfn.startExecution(start)).executionArn);
    } catch (error) {
      if (refusalOf(error)?.code === "ExecutionAlreadyExists") {
        throw new BenchError("usage", `run ${input.run} exists already`, {
          next: `\`bench sync ${input.run}\` brings its results`,
        });
      }
      // Its answer may be lost, and the sweep goes on: whoever reads this must know its name.
      throw awsFailure(error, `start the sweep of run ${input.run}`);
    }
  }

  /**
   * Waits for the sweep's end; `onLook` is called now and then until then. Throws `BenchError`
   * (`unavailable`) for a sweep that failed as a whole, and the signal's reason when it is aborted.
   */
  async ended(signal: AbortSignal, onLook: () => Promise<void>): Promise<void> {
    for (let waitMs = FIRST_POLL_MS; ; waitMs = Math.min(POLL_MS, waitMs * 1.5)) {
      const found = await this.#describe();
      if (found.status === "SUCCEEDED") return;
      if (found.status !== "RUNNING") throw failed(found);
      await onLook();
      await delay(waitMs, undefined, { signal });
    }
  }

  /**
   * Stops the map and its tasks, and waits until the service says that it has. Does nothing when the sweep
   * was seen to have ended. Throws `BenchError` (`unavailable`), also when it goes on after the limit.
   */
  async stop(limitMs: number = STOP_LIMIT_MS): Promise<void> {
    if (!this.#isRunning) return;
    const until = performance.now() + limitMs;
    const input = { executionArn: this.arn, error: "Interrupted", cause: "stopped by its user" };
    try {
      await (await this.#account.services.sfn()).stopExecution(input);
      while ((await this.#describe()).status === "RUNNING") {
        if (performance.now() > until) throw new Error(`it still runs after ${limitMs / 1000} s`);
        await delay(FIRST_POLL_MS);
      }
    } catch (error) {
      throw awsFailure(error, "stop the sweep");
    }
  }

  async #describe(): Promise<z.infer<typeof Described>> {
    const input = { executionArn: this.arn };
    try {
      const sfn = await this.#account.services.sfn();
      const found = Described.parse(await sfn.describeExecution(input));
      this.#isRunning = found.status === "RUNNING";
      return found;
    } catch (error) {
      throw awsFailure(error, "look at the sweep");
    }
  }
}

function failed({ status, error, cause }: z.infer<typeof Described>): BenchError {
  const why = [status, error, cause?.slice(0, 300)].filter(Boolean).join(": ");
  return new BenchError("unavailable", `the sweep ended as ${why}`, {
    next: "the same command goes on with what has not ended",
  });
}
