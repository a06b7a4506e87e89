import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { identifyProcess } from "../../host/process-identity.ts";
import { shell, text } from "../../sandboxes/contract/run-in-sandbox.ts";
import { sandboxContract } from "../../sandboxes/contract/sandbox-contract.ts";
import { type OpenFixture, openFixture } from "../../sandboxes/contract/sandbox-fixture.ts";
import { skipReason } from "../../sandboxes/contract/sandbox-promise.ts";
import { TaskContainers } from "./task-containers.ts";

/** Promises of a backend that makes its sandboxes; on Fargate the platform makes, lists and ends them. */
const PLATFORMS = [
  /^a listing shows/u,
  /^renew moves/u,
  /^a sandbox of a process that has ended/u,
  /^remove ends a sandbox/u,
  /^destroy leaves nothing/u,
  /^a creation that is aborted/u,
  /^a folder mounted from this machine/u,
  // The walls of the container are the platform's: docs/aws.md says how to look at them there.
  /^root inside can neither mount/u,
];
/** One network for all containers of a task: what caps say, and `notes` of each result. */
const ONE_NETWORK = [
  /loopback inside a sandbox is up, and its own/u,
  /^with the open internet/u,
  /^no other sandbox reaches/u,
];

let containers: TaskContainers;
let open: OpenFixture;

beforeAll(async () => {
  containers = await TaskContainers.open();
  open = openFixture({
    backend: containers,
    image: {
      id: "bench-base:debian",
      digest: null,
      workdir: "/",
      env: {},
      user: "root",
      builtHere: false,
    },
    owner: {
      runId: "contract",
      jobName: "job",
      rolloutName: "contract__0123abcd",
      process: identifyProcess(),
      leaseMs: 600_000,
    },
    leftovers: async () => [],
  });
});

afterEach(async () => {
  await open.endCheck();
});

afterAll(async () => {
  await open.close();
  await containers.close();
});

describe("the sandbox contract on a Fargate task's container", () => {
  test.for(sandboxContract)("$promise", async (promise, { skip }) => {
    const reason = skipReason(promise, containers.caps);
    if (reason !== null) skip(reason);
    if (PLATFORMS.some((one) => one.test(promise.promise)))
      skip("the platform makes and ends tasks");
    if (ONE_NETWORK.some((one) => one.test(promise.promise))) skip("a task has one network");
    await expect(promise.check(open.fixture)).resolves.toBeUndefined();
  });
});

test("nobody in the container finds the address of the task's keys, root included", async () => {
  const sandbox = await open.fixture.sharedSandbox();
  const look =
    "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c -E 'AWS_|ECS_|credentials' || true";
  expect(text((await sandbox.exec(shell(look))).stdout)).toBe("0\n");
});

test("the kit cannot be changed, and the socket is gone once its runner is connected", async () => {
  const sandbox = await open.fixture.sharedSandbox();
  const tried = await sandbox.exec(shell("echo x > /.bench/kit/box; ls /.bench/run; echo done"));
  expect(text(tried.stdout)).toBe("pipes\ndone\n");
  expect(text(tried.stderr)).toContain("Read-only");
});

test("the container ends with its sandbox, whatever runs in it", async () => {
  const sandbox = await open.fixture.makeSandbox();
  await sandbox.exec(shell("(trap '' TERM; setsid sleep 9001.5 >/dev/null 2>&1 &) ; true"));
  expect(await containers.isRunning(sandbox.id)).toBe(true);
  await sandbox.destroy();
  await expect.poll(() => containers.isRunning(sandbox.id), { timeout: 5000 }).toBe(false);
});
