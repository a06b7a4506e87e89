import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { ByteStream, Command, Sandbox } from "../../../core/ports/sandbox.ts";
import { processPromises } from "../../../sandboxes/contract/process-promises.ts";
import { sandboxContract } from "../../../sandboxes/contract/sandbox-contract.ts";
import type { SandboxFixture } from "../../../sandboxes/contract/sandbox-promise.ts";
import { skipReason } from "../../../sandboxes/contract/sandbox-promise.ts";
import { streamPromises } from "../../../sandboxes/contract/stream-promises.ts";
import { openDocker, type OpenDocker } from "./docker-fixture.ts";

let docker: OpenDocker;

beforeAll(async () => {
  docker = await openDocker("bench-base:debian");
});

afterEach(async () => {
  await docker.endCheck();
});

afterAll(async () => {
  await docker.close();
});

describe("the sandbox contract on docker", () => {
  test.for(sandboxContract)("$promise", async (promise, { skip }) => {
    const reason = skipReason(promise, docker.backend.caps);
    if (reason !== null) skip(reason);
    await expect(promise.check(docker.fixture)).resolves.toBeUndefined();
  });
});

// Root's commands go through the supervisor where they can. These are the same promises for the other
// way, which a command with input takes.
describe("the promises of streams and processes, through the daemon's exec alone", () => {
  test.for([...streamPromises, ...processPromises])("$promise", async (promise) => {
    await expect(promise.check(withInput(docker.fixture))).resolves.toBeUndefined();
  });
});

test("after all of these, the daemon holds no container of theirs", async () => {
  await docker.close();
  await docker.backend.close();
  expect(await docker.allLeftovers()).toEqual([]);
});

function withInput(fixture: SandboxFixture): SandboxFixture {
  return {
    ...fixture,
    makeSandbox: async (overrides) => feeding(await fixture.makeSandbox(overrides)),
    sharedSandbox: async () => feeding(await fixture.sharedSandbox()),
  };
}

/** The same sandbox, whose commands all get an input, if only an empty one. */
function feeding(sandbox: Sandbox): Sandbox {
  return new Proxy(sandbox, {
    get(target, name) {
      if (name === "exec")
        return async (command: Command) => await target.exec({ stdin: nothing(), ...command });
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

async function* nothing(): ByteStream & AsyncGenerator<Uint8Array> {
  // No bytes: the input ends at once.
}
