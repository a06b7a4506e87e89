import { describe, expect, test } from "vitest";
import { componentsOf } from "../../../sandboxes/files/sandbox-root.ts";

describe("componentsOf", () => {
  test("cuts a path at its slashes and refuses to leave it", () => {
    expect(componentsOf(Buffer.from("/a//./b/")).map(String)).toEqual(["a", "b"]);
    expect(componentsOf(Buffer.from("/"))).toEqual([]);
    expect(() => componentsOf(Buffer.from("a/../b"))).toThrow("leaves its folder");
    expect(() => componentsOf(Buffer.from("a\0b"))).toThrow("leaves its folder");
  });
});
