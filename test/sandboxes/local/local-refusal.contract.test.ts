import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { probeLocal, refusalOf } from "../../../sandboxes/local/probe-local.ts";
import { StateFolder } from "../../../sandboxes/local/state-folder.ts";

/** util-linux's, as the code under test uses it. */
const SETPRIV = "setpriv";

describe("local sandboxes that cannot be had", () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "local-refusal-"));
    chmodSync(folder, 0o755);
    // One file that anyone may read: this checkout may lie where an ordinary user cannot look.
    buildSync({
      entryPoints: [fileURLToPath(new URL("refuse-user.ts", import.meta.url))],
      outfile: join(folder, "refuse-user.mjs"),
      bundle: true,
      platform: "node",
      format: "esm",
      logLevel: "error",
    });
  });

  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  test("are refused to a root without the power to make namespaces", () => {
    const result = spawnSync(
      SETPRIV,
      [
        "--bounding-set=-sys_admin",
        "--inh-caps=-all",
        process.execPath,
        join(folder, "refuse-user.mjs"),
        join(folder, "state"),
      ],
      { encoding: "utf8" },
    );
    expect(result.stdout).toMatch(
      /^unavailable: .*unshare failed: Operation not permitted\n  next: run outside an unprivileged container/u,
    );
  });

  test("can be had here, and the probe says what of", async () => {
    const state = new StateFolder(join(folder, "probed"));
    const probe = await probeLocal(state);
    expect(refusalOf(probe)).toBeNull();
    const needed = probe.checks.filter(({ isNeeded }) => isNeeded);
    expect(needed.map(({ name }) => name)).toEqual([
      "Linux",
      "root",
      "programs",
      "coreutils 8.31",
      "namespaces",
      "overlay file system",
      "process groups",
    ]);
    const limit = probe.checks.find(({ name }) => name === "disk limit");
    expect(limit?.holds).toBe(probe.hasDiskLimit);
  });
});
