import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LocalSandboxes } from "../../../sandboxes/local/local-sandboxes.ts";
import { leftoversOf, machineLeftovers } from "./leftovers.ts";

const DRIVER = fileURLToPath(new URL("driver.ts", import.meta.url));
const ROUNDS = 10;

describe("a process that is killed while it makes and ends local sandboxes", () => {
  let folder: string;
  let stateDir: string;
  let backend: LocalSandboxes;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "local-kill-"));
    stateDir = join(folder, "state");
    writeFileSync(join(folder, "Dockerfile"), "FROM debian:12\nRUN echo built > /built\n");
    backend = await LocalSandboxes.open({ stateDir, localInclude: [] });
  });

  afterAll(async () => {
    await backend.close();
    rmSync(folder, { recursive: true });
  });

  function startDriver(): ChildProcess {
    return spawn(process.execPath, ["--import", "tsx", DRIVER, stateDir, folder], {
      stdio: ["ignore", "pipe", "inherit"],
      detached: true,
    });
  }

  /** Of all sandboxes; their folders and cgroups wait for a removal, the rest goes by itself. */
  async function runningLeftovers(): Promise<string[]> {
    const records = await backend.list();
    const found = records.flatMap(({ id }) => leftoversOf(stateDir, id));
    return found.filter((line) => !/^(folder|cgroup) /u.test(line));
  }

  test("leaves only what the next command finds by its dead owner and removes, whenever it was killed", async () => {
    let found = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const driver = startDriver();
      await once(driver.stdout ?? driver, "data");
      // From the first mkdir of a sandbox to the last rmdir, and into the builds between.
      await delay(Math.random() * 700);
      // tsx has a helper process: the group is killed in one step.
      process.kill(-(driver.pid ?? 0), "SIGKILL");
      await once(driver, "exit");
      await delay(20);
      for (const { id, ownerState } of await backend.list()) {
        expect(ownerState).toBe("dead");
        await backend.remove(id);
        expect(leftoversOf(stateDir, id)).toEqual([]);
        found += 1;
      }
      expect(await backend.list()).toEqual([]);
      expect(machineLeftovers(stateDir)).toEqual([]);
    }
    expect(found).toBeGreaterThan(0);
  }, 120_000);

  test("leaves half-made images that nobody takes for whole ones, and that are swept", async () => {
    const next = await LocalSandboxes.open({ stateDir, localInclude: [] });
    await next.close();
    const [own, ...others] = readdirSync(join(stateDir, "staging"));
    expect(own).toBeDefined();
    expect(others).toEqual([]);
    for (const id of readdirSync(join(stateDir, "images"))) {
      // The kill may have come before the first user of a whole image was noted.
      const names = readdirSync(join(stateDir, "images", id)).filter((name) => name !== "users");
      expect(names.toSorted()).toEqual(["image.json", "layers"]);
    }
  });

  test("takes its sandboxes' processes along, and their mounts with them", async () => {
    const driver = startDriver();
    for await (const chunk of driver.stdout ?? []) if (String(chunk).includes("up")) break;
    process.kill(-(driver.pid ?? 0), "SIGKILL");
    await once(driver, "exit");
    for (let tries = 0; tries < 100 && (await runningLeftovers()).length > 0; tries += 1)
      await delay(100);
    expect(await runningLeftovers()).toEqual([]);
    for (const { id } of await backend.list()) await backend.remove(id);
  });
});
