import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { identifyProcess } from "../../../host/process-identity.ts";
import type { BaseRoot } from "../../../sandboxes/local/root/base-root.ts";
import { removeUnusedBases, useBase } from "../../../sandboxes/local/root/base-users.ts";
import { StateFolder, fileNameOf } from "../../../sandboxes/local/state-folder.ts";

let state: StateFolder;

beforeAll(() => {
  state = new StateFolder(mkdtempSync(join(tmpdir(), "base-users-")));
});

afterAll(() => {
  rmSync(state.dir, { recursive: true });
});

function base(name: string): BaseRoot {
  const path = join("bases", name);
  mkdirSync(join(state.dir, path), { recursive: true });
  const family = { id: "debian", versionId: "12", codename: "", like: ["debian"] };
  return { key: name, path, system: { trees: [], links: [] }, family, ownLayers: null };
}

test("bases of past machine states go, but for the current one and those of live processes", async () => {
  const [current, live, dead] = [base("current"), base("live"), base("dead")];
  base("older");
  useBase(state, live);
  useBase(state, live);
  useBase(state, dead);
  const users = join(state.dir, dead.path, "users");
  for (const name of readdirSync(users)) rmSync(join(users, name));
  // Our pid with another start: a process that has ended.
  writeFileSync(join(users, fileNameOf(identifyProcess().replace(/\d+$/u, "1"))), "");
  expect((await removeUnusedBases(state, current)).toSorted()).toEqual([
    "bases/dead",
    "bases/older",
  ]);
  expect(readdirSync(join(state.dir, "bases")).toSorted()).toEqual(["current", "live"]);
});

test("a base that was removed meanwhile is not taken for one again", () => {
  const gone = base("gone");
  rmSync(join(state.dir, gone.path), { recursive: true });
  expect(() => {
    useBase(state, gone);
  }).toThrow("ENOENT");
  expect(existsSync(join(state.dir, gone.path))).toBe(false);
});
