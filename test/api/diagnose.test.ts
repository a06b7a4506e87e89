import { expect, test } from "vitest";
import { namesOfHolding } from "../../api/diagnose.ts";
import type { LocalCheck } from "../../sandboxes/local/probe-local.ts";

function check(name: string, holds: boolean): LocalCheck {
  return { name, holds, isNeeded: false, detail: "", next: "" };
}

test("a backend's line lists what is there, and nothing that has a line of its own as missing", () => {
  const checks = [check("a", true), check("memory limit", false), check("b", true)];
  expect(namesOfHolding(checks)).toBe("a, b");
});
