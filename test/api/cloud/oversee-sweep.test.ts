import { afterEach, describe, expect, test } from "vitest";
import { overseeSweep } from "../../../api/cloud/oversee-sweep.ts";
import { Sweep } from "../../../api/cloud/sweep.ts";
import { BenchError } from "../../../core/errors.ts";
import { type Answers, fakeAws } from "../../fakes/fake-aws.ts";

const RUN = "nightly-00000001";
let close = (): void => undefined;
afterEach(() => {
  close();
});

/** A sweep with one task that runs until it is stopped. */
async function sweepOf(changed: Answers = {}) {
  let isSweeping = true;
  let isTaskRunning = true;
  const aws = await fakeAws({
    StartExecution: () => ({ executionArn: "arn:run" }),
    DescribeExecution: () => ({ status: isSweeping ? "RUNNING" : "ABORTED" }),
    StopExecution: () => {
      isSweeping = false;
      return {};
    },
    ListTasks: () => ({ taskArns: isTaskRunning ? ["task"] : [] }),
    DescribeTasks: () => ({
      tasks: [{ taskArn: "task", group: RUN, lastStatus: isTaskRunning ? "RUNNING" : "STOPPED" }],
    }),
    StopTask: () => {
      isTaskRunning = false;
      return {};
    },
    ...changed,
  });
  ({ close } = aws);
  const sweep = await Sweep.start(aws.account, { run: RUN, items: "items.json", width: 1 });
  const isLeft = () => ({ sweep: isSweeping, task: isTaskRunning });
  return { ...aws, sweep, isLeft };
}

const NEVER = new AbortController().signal;

function watchOf(onLook: () => Promise<void>, signal = NEVER) {
  const stopped: number[] = [];
  const onStopped = (running: number) => void stopped.push(running);
  return { run: RUN, signal, onLook, onStopped, stopped };
}

const fullDisk = async (): Promise<void> => {
  throw new BenchError("unavailable", "the disk is full", { next: "make room" });
};
const expired = () => new Error("ExpiredTokenException");
const caught = (error: unknown): unknown => error;

describe("a sweep that is watched", () => {
  test("is stopped with its tasks when what has ended cannot be brought here", async () => {
    const { account, sweep, isLeft } = await sweepOf();
    const error = await overseeSweep(account, sweep, watchOf(fullDisk)).catch(caught);
    expect(isLeft()).toEqual({ sweep: false, task: false });
    expect(error).toMatchObject({
      kind: "unavailable",
      message: `the disk is full; run ${RUN} was stopped, and nothing of it runs`,
      next: expect.stringContaining(`bench sync ${RUN}`),
    });
  });

  test("is told by name when it cannot be stopped either, and its tasks are stopped all the same", async () => {
    const refused = new Error("AccessDeniedException");
    const { account, sweep, isLeft } = await sweepOf({ StopExecution: () => refused });
    const error = await overseeSweep(account, sweep, watchOf(fullDisk)).catch(caught);
    expect(isLeft()).toEqual({ sweep: true, task: false });
    expect(error).toMatchObject({
      message: expect.stringContaining(`run ${RUN} may still run, and cost`),
      next: expect.stringMatching(/--execution-arn arn:run`.*`bench sync nightly-00000001`/u),
    });
  });

  test("is told by name when the keys have expired", async () => {
    const actions = ["DescribeExecution", "StopExecution", "ListTasks"];
    const { account, sweep } = await sweepOf(
      Object.fromEntries(actions.map((action) => [action, expired])),
    );
    const error = await overseeSweep(account, sweep, watchOf(fullDisk)).catch(caught);
    expect(error).toMatchObject({
      message: expect.stringMatching(/ExpiredTokenException.*run nightly-00000001 may still run/u),
    });
  });

  test("is stopped by its user, who learns what is left and gets what has ended", async () => {
    const stop = new AbortController();
    let looks = 0;
    const { account, sweep, isLeft } = await sweepOf();
    const watch = watchOf(async () => {
      looks += 1;
      stop.abort();
    }, stop.signal);
    await overseeSweep(account, sweep, watch);
    expect(isLeft()).toEqual({ sweep: false, task: false });
    expect(watch.stopped).toEqual([0]);
    expect(looks).toBe(2);
  });

  test("that its user cannot stop has its tasks stopped, and is no quiet end", async () => {
    const refused = new Error("AccessDeniedException");
    const { account, sweep, isLeft } = await sweepOf({ StopExecution: () => refused });
    const watch = watchOf(async () => undefined, AbortSignal.abort());
    const error = await overseeSweep(account, sweep, watch).catch(caught);
    expect(isLeft().task).toBe(false);
    expect(watch.stopped).toEqual([]);
    expect(error).toMatchObject({ kind: "interrupted", message: expect.stringContaining(RUN) });
  });

  test("that has ended is not stopped when its last results do not arrive", async () => {
    const { account, sweep, asked } = await sweepOf({
      DescribeExecution: () => ({ status: "SUCCEEDED" }),
    });
    const error = await overseeSweep(account, sweep, watchOf(fullDisk)).catch(caught);
    expect(asked).not.toContain("StopExecution");
    expect(error).toMatchObject({
      message: `the disk is full; run ${RUN} has ended in the account`,
      next: expect.stringContaining(`bench sync ${RUN}`),
    });
  });
});

test("a sweep that failed as a whole says as what, and why when the account knows it", async () => {
  const endings = [
    { status: "TIMED_OUT" },
    { status: "FAILED", error: "States.Runtime", cause: "no items" },
  ];
  const messages: string[] = [];
  for (const ending of endings) {
    const { sweep, close: end } = await sweepOf({ DescribeExecution: () => ending });
    const error: unknown = await sweep.ended(NEVER, async () => undefined).catch(caught);
    messages.push(String(error));
    end();
  }
  expect(messages).toEqual([
    "BenchError: the sweep ended as TIMED_OUT",
    "BenchError: the sweep ended as FAILED: States.Runtime: no items",
  ]);
});

test("a sweep that does not stop is an error after the limit", async () => {
  const { sweep } = await sweepOf({ StopExecution: () => ({}) });
  await expect(sweep.stop(400)).rejects.toThrow("it still runs after 0.4 s");
});
