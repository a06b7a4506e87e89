import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type OrdinaryUser, makeOrdinaryUser } from "../../../setup/ordinary-user.ts";
import { bundleFor } from "./bundle-for.ts";

const PROGRAM = fileURLToPath(new URL("run-walls.ts", import.meta.url));

describe("local sandboxes of an ordinary user without a cgroup", () => {
  let user: OrdinaryUser;
  let found: Readonly<Record<string, unknown>>;

  beforeAll(async () => {
    user = makeOrdinaryUser();
    const [first, ...words] = user.behind({ cgroups: false });
    const enter = ["unshare", "--user", "--map-auto", "--map-root-user", "--"];
    const { stdout } = await promisify(execFile)(
      first,
      [...words, ...enter, process.execPath, bundleFor(user, PROGRAM)],
      { env: user.env, cwd: user.home },
    );
    found = JSON.parse(stdout) as Readonly<Record<string, unknown>>;
  });

  afterAll(() => {
    user.remove();
  });

  test("end a fork bomb of the agent's, and of root's inside, at its deadline, and neighbours live on", () => {
    const ended = { timedOut: true, left: 0, beside: "alive" };
    expect(found["bombs"]).toEqual([ended, ended]);
  });

  test("end a fork bomb by its uid", () => {
    expect(found["killedUser"]).toEqual({ hasGrown: true, left: 0, seen: 0 });
  });

  test("let root inside add, replace and remove the machine's programs, for its own sandbox, but not write in them", () => {
    expect(found["system"]).toEqual({
      add: "0 added",
      replace: "0 replaced",
      remove: "0",
      copyOver: "1",
      makeFolder: "0",
      packages: "0",
      writeInPlace: "2  /bin/sh: 1: cannot create /usr/bin/env: Permission denied",
      changeMode: "1  chmod: changing permissions of '/usr/bin/env': Operation not permitted",
      agent: "1",
      otherSandbox: "d41d8cd98f00b204e9800998ecf8427e  -\n1",
    });
  });

  test("keep in an image what its build added and removed, and fail a build that writes in place, with its line", () => {
    expect(found["images"]).toEqual({
      built: "built\nno tac",
      refused:
        "SandboxError: Dockerfile:3: RUN ended with exit code 2: /bin/sh: 1: cannot create /usr/bin/env: Permission denied",
    });
  });

  test("outlive a root inside that kills what waits for its command, and find what it left", () => {
    expect(found["withoutReaper"]).toEqual({
      code: 137,
      isSoon: true,
      left: 0,
      sleepers: 0,
      usable: "yes",
    });
  });

  test("run nothing as the uid that the machine's own files show", () => {
    expect(found["nobody"]).toMatch(
      /^SandboxError: uid 65534 is what this machine's files belong to/u,
    );
  });
});
