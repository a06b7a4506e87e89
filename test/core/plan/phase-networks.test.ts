import * as fc from "fast-check";
import { expect, test } from "vitest";
import { NetworkMode, TaskConfig } from "../../../core/model/task.ts";
import { givenNetworks } from "../../../core/plan/phase-networks.ts";

const mode = fc.option(fc.constantFrom(...NetworkMode.options));
const config = fc
  .record({ sandbox: mode, agent: mode, verifier: mode })
  .map(({ sandbox, agent, verifier }) =>
    TaskConfig.parse({
      sandbox: { networkMode: sandbox },
      agent: { networkMode: agent },
      verifier: { networkMode: verifier },
    }),
  );

function given(modes: Partial<Record<"sandbox" | "agent" | "verifier", NetworkMode>>): string {
  const sections = Object.entries(modes).map(([name, networkMode]) => [name, { networkMode }]);
  const networks = givenNetworks(TaskConfig.parse(Object.fromEntries(sections)), {
    publicNetwork: true,
  });
  return Object.values(networks).join(" ");
}

test("without the open internet every phase of every task gets none, and is told so", () => {
  fc.assert(
    fc.property(config, (task) => {
      expect(givenNetworks(task, { publicNetwork: false })).toEqual({
        setup: "closed",
        agent: "closed",
        verifier: "closed",
      });
    }),
  );
});

test("with it a phase gets what it says, else what its sandbox says, else the open internet", () => {
  expect(given({})).toBe("public public public");
  expect(given({ sandbox: "no-network" })).toBe("closed closed closed");
  expect(given({ sandbox: "no-network", verifier: "public" })).toBe("closed closed public");
  expect(given({ agent: "no-network" })).toBe("public closed public");
});

test("a list of hosts is never the open internet", () => {
  for (const list of ["allowlist", "denylist"] as const) {
    const task = TaskConfig.parse({ sandbox: { networkMode: list } });
    expect(givenNetworks(task, { publicNetwork: true }).agent).toBe("closed");
  }
});
