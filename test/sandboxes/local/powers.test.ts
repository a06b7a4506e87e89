import { describe, expect, test } from "vitest";
import { MACHINE_POWERS, NAMESPACE_POWERS, findPowers } from "../../../sandboxes/local/powers.ts";

describe("findPowers", () => {
  test("finds the machine's root where every id is mapped to itself", () => {
    expect(findPowers("         0          0 4294967295\n")).toBe(MACHINE_POWERS);
  });

  test.each([
    ["an ordinary user with subordinate ids", "0 1001 1\n1 100000 65535\n"],
    ["one id only", "0 1001 1\n"],
    ["a part of the machine's own ids", "0 0 65536\n"],
    ["a map that was never written", ""],
  ])("finds a namespace of %s", (_, idMap) => {
    expect(findPowers(idMap)).toBe(NAMESPACE_POWERS);
  });
});
