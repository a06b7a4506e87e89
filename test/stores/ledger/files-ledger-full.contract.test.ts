import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BenchError } from "../../../core/errors.ts";
import { amountOf } from "../../../core/ledger/amounts.ts";
import { NO_CAPS } from "../../../core/ledger/caps.ts";
import { createLedger } from "../../../core/ledger/create-ledger.ts";
import { addsUp } from "../../../core/ledger/read-pot.ts";
import { sumPot } from "../../../core/ledger/sum-pot.ts";
import { openTrialAccount } from "../../../core/ledger/trial-account.ts";
import type { TrialAccount } from "../../../core/ledger/trial-account.ts";
import type { Ledger } from "../../../core/ports/ledger.ts";
import { systemClock } from "../../../host/system-clock.ts";
import { openFilesLedger } from "../../../stores/ledger/files/files-ledger-store.ts";
import { processDeaths } from "../../../stores/ledger/files/process-deaths.ts";

let disk: string;

/** A real disk of 128 kB: needs root, as the whole contract project does. */
beforeAll(() => {
  disk = mkdtempSync(join(tmpdir(), "bench-ledger-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=128k,mode=700", "tmpfs", disk]);
});

afterAll(() => {
  execFileSync("umount", [disk]);
  rmSync(disk, { recursive: true });
});

const worst = amountOf({ microUsd: 100 });
const limits = { signal: new AbortController().signal, patienceMs: 1000 };

async function account(ledger: Ledger, attempt: string): Promise<TrialAccount> {
  const claim = { token: attempt, holder: attempt };
  const admission = await ledger.admit({
    attempt,
    by: attempt,
    order: 0,
    setting: "s",
    least: amountOf({ microUsd: 100, rollouts: 1 }),
    trialCaps: NO_CAPS,
    claim,
  });
  if (admission.kind !== "admitted") throw new Error(admission.kind);
  const owner = { ...claim, open: admission.open, trialCaps: NO_CAPS };
  return openTrialAccount({ ledger, clock: systemClock }, owner);
}

test("a full disk stops spending with an error that says so, and the next command goes on", async () => {
  const dir = join(disk, "ledger");
  const store = await openFilesLedger({ dir });
  const ledger = createLedger({ store, pot: "pot", deaths: processDeaths });
  await ledger.open({
    caps: { ...NO_CAPS, microUsd: 1_000_000 },
    width: 1,
    breakerThreshold: 0,
  });
  const trial = await account(ledger, "one");
  const other = await account(ledger, "two");
  const { spent, failure } = await spendUntilItFails(trial);
  expect(failure).toBeInstanceOf(BenchError);
  expect(failure).toMatchObject({ kind: "unavailable" });
  expect((failure as BenchError).message).toContain("no space left on device");
  expect((failure as BenchError).next).toContain("free some space");
  expect(spent).toBeGreaterThan(1000);
  // Neither this trial nor another one spends from what it had leased before.
  await expect(trial.reserve(amountOf({}), limits)).rejects.toThrow(BenchError);
  await expect(other.reserve(worst, limits)).rejects.toThrow(BenchError);
  expect(readFileSync(join(dir, "journal-0"), "utf8").endsWith("\n")).toBe(true);

  execFileSync("mount", ["-o", "remount,size=4m", disk]);
  // What a failed write left on the disk is not known for certain: this handle stays out of use.
  await expect(store.read(["item"])).rejects.toThrow("no space left on device");
  await store.close();
  const again = await openFilesLedger({ dir });
  const resumed = createLedger({ store: again, pot: "pot", deaths: processDeaths });
  const view = await resumed.view();
  expect(addsUp(view)).toBe(true);
  const { settled, leased } = sumPot(view);
  expect(settled.microUsd + leased.microUsd).toBeGreaterThanOrEqual(spent);
  await account(resumed, "three");
  await again.close();
});

test("a disk that is full from the start makes no ledger, says so, and is no hindrance later", async () => {
  const dir = join(disk, "late");
  const filler = join(disk, "filler");
  fill(filler);
  await expect(openFilesLedger({ dir })).rejects.toMatchObject({
    kind: "unavailable",
    message: expect.stringContaining("no space left on device") as unknown,
  });
  rmSync(filler);
  const store = await openFilesLedger({ dir });
  expect(await store.read(["item"])).toEqual([null]);
  await store.close();
});

/** Takes all that the disk has left. */
function fill(path: string): void {
  for (let sizeBytes = 65_536; sizeBytes >= 1; sizeBytes = Math.floor(sizeBytes / 2)) {
    try {
      for (;;) writeFileSync(path, Buffer.alloc(sizeBytes), { flag: "a" });
    } catch (error) {
      if (!(error instanceof Error) || !error.message.includes("ENOSPC")) throw error;
    }
  }
}

async function spendUntilItFails(
  trial: TrialAccount,
): Promise<{ spent: number; failure: unknown }> {
  for (let spent = 0; ; spent += 30) {
    const reply = await trial.reserve(worst, limits).catch((error: unknown) => error as Error);
    if (reply instanceof Error) return { spent, failure: reply };
    if (reply.kind !== "granted") throw new Error(reply.kind);
    await trial.settle(reply.call, amountOf({ microUsd: 30 }));
  }
}

test("a folder that became read-only is told when the ledger is closed, and is no bug of ours", async () => {
  const dir = join(disk, "read-only");
  const store = await openFilesLedger({ dir });
  execFileSync("mount", ["--bind", dir, dir]);
  try {
    execFileSync("mount", ["-o", "remount,bind,ro", dir]);
    await expect(store.close()).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("the file system is read-only"),
    });
  } finally {
    execFileSync("umount", [dir]);
  }
});
