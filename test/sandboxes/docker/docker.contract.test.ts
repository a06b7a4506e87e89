import { afterAll, beforeAll, expect, test } from "vitest";
import { sandboxContract } from "../../../sandboxes/contract/sandbox-contract.ts";
import { DockerFixture } from "./docker-fixture.ts";

let fixture: DockerFixture;

beforeAll(async () => {
  fixture = await DockerFixture.open("bench-base:debian");
});

afterAll(async () => {
  await fixture.close();
});

test.for(sandboxContract)("$promise", async ({ requires, check }, { skip }) => {
  const lacks = requires !== undefined && !requires.holds(fixture.backend.caps);
  if (lacks) skip(`the backend has no ${requires.what}`);
  try {
    await check(fixture);
  } finally {
    await fixture.endSandboxes();
  }
});

test("after all of these, the daemon holds no container of theirs", async () => {
  await fixture.close();
  expect(await fixture.allLeftovers()).toEqual([]);
});
