import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NO_CAPS } from "../../../core/ledger/caps.ts";
import { createLedger } from "../../../core/ledger/create-ledger.ts";
import { addsUp } from "../../../core/ledger/read-pot.ts";
import { reapDead } from "../../../core/ledger/reap-dead.ts";
import { sumPot } from "../../../core/ledger/sum-pot.ts";
import { AttemptRecord } from "../../../core/model/ledger-pot.ts";
import { openFilesLedger } from "../../../stores/ledger/files/files-ledger-store.ts";
import { processDeaths } from "../../../stores/ledger/files/process-deaths.ts";

const SOAK = process.env["BENCH_TEST_SOAK"] === "1";
const KILLS = SOAK ? 200 : 10;
const CAP = 1_000_000;

let dir: string;
let program: string;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "bench-ledger-"));
  program = join(dir, "hammer-pot.mjs");
  const source = new URL("hammer-pot.ts", import.meta.url).pathname;
  const options = { bundle: true, platform: "node", format: "esm" } as const;
  await build({ ...options, entryPoints: [source], outfile: program, logLevel: "error" });
});

afterAll(() => {
  rmSync(dir, { recursive: true, force: true });
});

async function startHammer(name: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [program, join(dir, "pot"), name, "100000"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise((resolve) => child.stdout?.once("data", resolve));
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await gone;
}

/** What each attempt really spent, by its own record before the fact, and whether it closed. */
function truths(): Map<string, { spent: number; closed: boolean }> {
  const found = new Map<string, { spent: number; closed: boolean }>();
  for (const name of readdirSync(dir).filter((each) => each.startsWith("spent-"))) {
    for (const line of readFileSync(join(dir, name), "utf8").split("\n").filter(Boolean)) {
      const [attempt = "", figure = ""] = line.split(" ");
      const truth = found.get(attempt) ?? { spent: 0, closed: false };
      found.set(
        attempt,
        figure === "closed"
          ? { ...truth, closed: true }
          : { ...truth, spent: truth.spent + Number(figure) },
      );
    }
  }
  return found;
}

test(
  `three processes on one pot, ${String(KILLS)} times one of them killed at a random moment: nothing is lost or charged twice`,
  { timeout: SOAK ? 600_000 : 60_000 },
  async () => {
    const notices: string[] = [];
    const store = await openFilesLedger({
      dir: join(dir, "pot"),
      onNotice: (message) => notices.push(message),
    });
    const ledger = createLedger({ store, pot: "pot", deaths: processDeaths });
    await ledger.open({ caps: { ...NO_CAPS, microUsd: CAP }, width: 64, breakerThreshold: 0 });
    let hammers = await Promise.all(["a", "b", "c"].map(startHammer));
    for (let round = 0; round < KILLS; round += 1) {
      await delay(20 + 200 * Math.random());
      const [victim, ...others] = hammers;
      if (victim === undefined) throw new Error("no process to kill");
      await kill(victim);
      expect(addsUp(await ledger.view())).toBe(true);
      hammers = [...others, await startHammer(`round-${String(round)}`)];
    }
    for (const hammer of hammers) await kill(hammer);
    expect((await reapDead(ledger)).held).toEqual([]);
    const view = await ledger.view();
    const { remaining, settled, earmarked, leased } = sumPot(view);
    expect(earmarked.microUsd + leased.microUsd).toBe(0);
    expect(remaining.microUsd + settled.microUsd).toBe(CAP);
    const spends = truths();
    expect(spends.size).toBeGreaterThan(KILLS);
    let charged = 0;
    const wrong: string[] = [];
    for (const [attempt, truth] of spends) {
      const [item] = await store.read([`pot/attempt/${attempt}`]);
      const { spent } = AttemptRecord.parse(item);
      charged += spent?.microUsd ?? 0;
      const over = (spent?.microUsd ?? -1) - truth.spent;
      if (over < 0 || (truth.closed && over > 0)) wrong.push(`${attempt}: ${String(over)}`);
    }
    expect(wrong).toEqual([]);
    // Attempts that were killed before their first call may be charged, and are in no record of ours.
    expect(settled.microUsd).toBeGreaterThanOrEqual(charged);
    expect(settled.microUsd - charged).toBeLessThanOrEqual(100 * (KILLS + 3));
    await store.close();
  },
);
