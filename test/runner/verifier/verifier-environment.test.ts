import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  type EnvironmentParts,
  verifierEnvironment,
} from "../../../runner/verifier/verifier-environment.ts";

const PARTS: EnvironmentParts = {
  path: ["/opt/conda/bin", "/usr/bin"],
  pythonPath: ["/app"],
  home: "/root",
  isFedora: false,
  imagePlugins: ["asyncio", "cov"],
  declaredPlugins: [],
  usesUv: false,
  usesCtrf: false,
  testsDir: "/tests",
  caches: {},
  imageEnv: {},
  taskEnv: {},
};

function options(over: Partial<EnvironmentParts>): string {
  return verifierEnvironment({ ...PARTS, ...over })["PYTEST_ADDOPTS"] ?? "";
}

test("the environment is exactly what the contract lists, beside the image's and the task's", () => {
  const environment = verifierEnvironment({
    ...PARTS,
    imageEnv: { LANG: "C.UTF-8", JAVA_HOME: "/opt/java" },
    taskEnv: { LANG: "de_DE.UTF-8", API: "x" },
  });
  expect(environment).toEqual({
    LANG: "de_DE.UTF-8",
    JAVA_HOME: "/opt/java",
    API: "x",
    PATH: "/opt/conda/bin:/usr/bin",
    HOME: "/root",
    LD_PRELOAD: "",
    LD_LIBRARY_PATH: "",
    PYTHONPATH: "/app",
    PYTHONDONTWRITEBYTECODE: "1",
    PYTHONPYCACHEPREFIX: "/nonexistent",
    PYTHONNOUSERSITE: "1",
    PYTHONSTARTUP: "",
    PYTHONBREAKPOINT: "0",
    PYTEST_DISABLE_PLUGIN_AUTOLOAD: "1",
    PYTEST_ADDOPTS:
      "-c /dev/null --confcutdir=/tests --rootdir=/tests -p no:cacheprovider -p asyncio -p cov",
    COVERAGE_PROCESS_START: "",
    DJANGO_SETTINGS_MODULE: "",
    CELERY_CONFIG_MODULE: "",
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: "core.fsmonitor",
    GIT_CONFIG_VALUE_0: "false",
    PIP_BREAK_SYSTEM_PACKAGES: "1",
    PIP_USER: "0",
  });
});

test("neither the image nor the task can set what security sets", () => {
  const hostile = {
    PATH: "/app/bin",
    LD_PRELOAD: "/app/x.so",
    LD_LIBRARY_PATH: "/app",
    PYTHONSTARTUP: "/app/x.py",
    PYTEST_ADDOPTS: "-p evil",
    PYTEST_DISABLE_PLUGIN_AUTOLOAD: "",
    HOME: "/app",
  };
  const calm = verifierEnvironment(PARTS);
  expect(verifierEnvironment({ ...PARTS, imageEnv: hostile, taskEnv: hostile })).toEqual(calm);
});

test("plugins are the declared ones, ctrf when it is asked for, and the image's without uv", () => {
  expect(options({ usesUv: true, usesCtrf: true, declaredPlugins: ["xdist"] })).toBe(
    "-c /dev/null --confcutdir=/tests --rootdir=/tests -p no:cacheprovider -p xdist -p ctrf",
  );
  expect(options({ imagePlugins: ["x -p y", "--co", "$(id)", "", "ok.name"] })).toMatch(
    /cacheprovider -p --co -p ok\.name$/u,
  );
});

test("pip installs where programs are found on Fedora and its like", () => {
  expect(verifierEnvironment({ ...PARTS, isFedora: true })).toMatchObject({
    PIP_PREFIX: "/usr/local",
  });
});

test("git in a repository of the agent's runs no monitor of the agent's", async () => {
  const dir = await mkdtemp(join(tmpdir(), "verifier-git-"));
  try {
    const run = (env: Readonly<Record<string, string>>): void => {
      execFileSync("git", ["status"], { cwd: dir, env, stdio: "ignore" });
    };
    const bare = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: dir };
    execFileSync("git", ["init", "-q"], { cwd: dir, env: bare });
    const monitor = join(dir, "monitor.sh");
    await writeFile(monitor, `#!/bin/sh\ntouch ${dir}/ran\n`, { mode: 0o755 });
    execFileSync("git", ["config", "core.fsmonitor", monitor], { cwd: dir, env: bare });
    run({ ...verifierEnvironment(PARTS), PATH: bare.PATH, HOME: dir });
    expect(await readdir(dir)).not.toContain("ran");
    // The trap is armed: without that environment it goes off.
    run(bare);
    expect(await readdir(dir)).toContain("ran");
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});
