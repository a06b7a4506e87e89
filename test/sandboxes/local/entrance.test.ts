import { describe, expect, test } from "vitest";
import { entranceOf } from "../../../sandboxes/local/command/enter-sandbox.ts";

const TARGET = {
  supervisorPid: 77,
  group: { joinFiles: ["/cg/cgroup.procs"], entering: { before: [], options: [], words: [] } },
  seccomp: true,
};
const COMMAND = {
  argv: ["prog", "arg"],
  uid: 10_001,
  cwd: "/app",
  env: { PATH: "/p", KEY: "s3cret", LD_PRELOAD: "/evil.so" },
} as const;

describe("entranceOf", () => {
  test("puts no value of the environment into a command line, and no name of it before host programs", () => {
    const { argv, env } = entranceOf(COMMAND, TARGET);
    expect(argv.join("\n")).not.toMatch(/s3cret|evil/u);
    expect(Object.values(env)).toContain("s3cret");
    expect(
      Object.keys(env)
        .filter((name) => !name.startsWith("BENCH_VALUE_"))
        .toSorted(),
    ).toEqual(["LC_ALL", "PATH"]);
    expect(env["PATH"]).toBe("/usr/sbin:/usr/bin:/sbin:/bin");
  });

  test("drops privileges between the namespaces and the first program of the sandbox", () => {
    const { argv } = entranceOf(COMMAND, { ...TARGET, seccomp: false });
    const order = ["nsenter", "setpriv", "--no-new-privs", "chroot", "/bin/sh"];
    const places = order.map((word) => argv.indexOf(word, 1));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places.every((place) => place > 0)).toBe(true);
    expect(argv.find((word) => word.startsWith("--bounding-set="))).not.toMatch(
      /sys_admin|mknod|net_raw|sys_ptrace/u,
    );
    expect(argv.slice(-3)).toEqual(["/app", "prog", "arg"]);
  });

  test("where the filter loads, needs one program between the namespaces and the command", () => {
    const { argv } = entranceOf(COMMAND, TARGET);
    const inside = argv.slice(argv.indexOf("--") + 1);
    expect(inside[0]).toBe("perl");
    for (const word of ["setpriv", "chroot", "/bin/sh"]) expect(inside).not.toContain(word);
    // Neither mknod (27), net_raw (13), sys_ptrace (19) nor sys_admin (21).
    expect(inside).toContain("0,1,3,4,5,6,7,8,10,18,29,31");
    expect(inside.slice(-7)).toEqual([
      "BENCH_VALUE_",
      "3",
      "PATH",
      "KEY",
      "LD_PRELOAD",
      "prog",
      "arg",
    ]);
  });

  test("takes names that carry values out of the way of the command's own", () => {
    const { env } = entranceOf({ ...COMMAND, env: { BENCH_VALUE_0: "own" } }, TARGET);
    expect(env["BENCH_VALUE__0"]).toBe("own");
  });

  test("refuses a name that no shell can set", () => {
    expect(() => entranceOf({ ...COMMAND, env: { "a b": "" } }, TARGET)).toThrow('variable "a b"');
    expect(() => entranceOf({ ...COMMAND, env: { "x;reboot": "" } }, TARGET)).toThrow(
      "a shell cannot set",
    );
  });
});
