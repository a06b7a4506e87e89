import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "vitest";
import type { LedgerStore } from "../../../core/ports/ledger-store.ts";
import { identifyProcess } from "../../../host/process-identity.ts";
import { ledgerContract } from "../../../stores/ledger/contract/ledger-contract.ts";
import type { Holder, LedgerFixture } from "../../../stores/ledger/contract/ledger-promise.ts";
import { openFilesLedger } from "../../../stores/ledger/files/files-ledger-store.ts";
import { processDeaths } from "../../../stores/ledger/files/process-deaths.ts";

let dir: string;
let stores: LedgerStore[];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "bench-ledger-"));
  stores = [];
});

afterEach(async () => {
  for (const store of stores) await store.close();
  rmSync(dir, { recursive: true, force: true });
});

/** A real process, so that its death is a real one. */
async function startProcess(): Promise<Holder> {
  const child = spawn("sleep", ["600"], { stdio: "ignore" });
  await new Promise((resolve) => child.once("spawn", resolve));
  const holder = identifyProcess(child.pid);
  return {
    holder,
    kill: async () => {
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await gone;
    },
  };
}

function filesFixture(): LedgerFixture {
  return {
    pot: "pot",
    openStore: async () => {
      const store = await openFilesLedger({ dir: join(dir, "ledger") });
      stores.push(store);
      return store;
    },
    deaths: processDeaths,
    startHolder: startProcess,
    foreignHolder: "0f8fad5b-d9cb-469f-a165-70867728950e/4026531836/1/1",
  };
}

describe("the ledger in files keeps its contract", () => {
  test.each(ledgerContract.map(({ promise, check }) => [promise, check] as const))(
    "%s",
    async (_promise, check) => {
      await check(filesFixture());
    },
  );
});
