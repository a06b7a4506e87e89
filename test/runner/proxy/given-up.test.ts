import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { aModelServer, aProxy, ask, textOrCut, until } from "./proxy-fixture.ts";

test("an agent that gives up on a provider that says nothing has met a failure of the provider's", async () => {
  const server = await aModelServer({ faults: [{ kind: "hang" }] });
  const limits = { giveUpMs: 300, failuresInRow: 2 };
  const { proxy, rows } = await aProxy(server.origin, { limits });
  for (const [index, patienceMs] of [0, 400, 400].entries()) {
    const controller = new AbortController();
    const asked = ask(proxy, { signal: controller.signal }).then(textOrCut, () => "cut");
    await until(
      () => server.modelRequests().length,
      (length) => length === index + 1,
    );
    await sleep(patienceMs);
    controller.abort();
    expect(await asked).toBe("cut");
    await until(
      () => rows.length,
      (length) => length === index + 1,
    );
  }
  expect(rows.map(({ end }) => end)).toEqual(["aborted", "timeout", "timeout"]);
  expect(proxy.stopped()).toMatchObject({ reason: "provider-failing" });
});
