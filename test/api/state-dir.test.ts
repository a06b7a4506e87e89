import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { stateDir } from "../../api/state-dir.ts";

test("the state folder is the one that is named, else in the user's cache", () => {
  expect(stateDir({ BENCHFLOW_STATE_DIR: "/var/state", HOME: "/home/a" })).toBe("/var/state");
  expect(stateDir({ XDG_CACHE_HOME: "/cache", HOME: "/home/a" })).toBe("/cache/benchflow-cloud");
  expect(stateDir({ HOME: "/home/a" })).toBe("/home/a/.cache/benchflow-cloud");
  expect(stateDir({ BENCHFLOW_STATE_DIR: "state" })).toBe(resolve("state"));
});

test("a relative cache folder and an empty home lead to no folder below the current one", () => {
  expect(stateDir({ XDG_CACHE_HOME: "cache", HOME: "/home/a" })).toBe(
    "/home/a/.cache/benchflow-cloud",
  );
  expect(stateDir({ HOME: "" })).toBe(join(homedir(), ".cache/benchflow-cloud"));
});
