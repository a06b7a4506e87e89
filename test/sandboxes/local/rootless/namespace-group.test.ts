import { expect, test } from "vitest";
import { NamespaceGroup } from "../../../../sandboxes/local/rootless/namespace-group.ts";
import type { Supervisor } from "../../../../sandboxes/local/start-supervisor.ts";

test("a sandbox whose first process is gone is refused, and never counted as empty", () => {
  const gone = { pid: 2 ** 22 + 1 } as Supervisor;
  expect(() => new NamespaceGroup().started(gone)).toThrow(
    expect.objectContaining({ failure: "start-failed" }),
  );
});
