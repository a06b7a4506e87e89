import { spawn } from "node:child_process";
import { cpSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { identifyProcess } from "../../../host/process-identity.ts";
import { countOne, counted, useLedgerFolder, writeLedger } from "./ledger-folder.ts";

const folder = useLedgerFolder();

describe("a long journal", () => {
  test("becomes a snapshot, in every process that has it open", async () => {
    const [one, other] = [
      await folder.open({ compactBytes: 2000 }),
      await folder.open({ compactBytes: 2000 }),
    ];
    for (let write = 1; write <= 120; write += 1) {
      await (write % 2 === 0 ? one : other).write([countOne]);
      expect(await counted(write % 3 === 0 ? one : other)).toBe(write);
    }
    const files = readdirSync(folder.ledger).filter((name) => /^(?:journal|snapshot)/u.test(name));
    expect(files).toHaveLength(2);
    expect(files).not.toContain("journal-0");
    expect(await counted(await folder.open())).toBe(120);
  });

  test("whose writer was killed while it made the snapshot is read as before", async () => {
    await writeLedger(folder, 5);
    const copy = `${folder.ledger}-copy`;
    cpSync(folder.ledger, copy, { recursive: true });
    const store = await folder.open({ compactBytes: 1 });
    await store.write([countOne]);
    await store.close();
    // The new files are there and the head still points at the old ones.
    for (const name of readdirSync(folder.ledger).filter((each) => each.endsWith("-1")))
      cpSync(join(folder.ledger, name), join(copy, name));
    folder.ledger = copy;
    const again = await folder.open({ compactBytes: 1 });
    expect(await counted(again)).toBe(5);
    await again.write([countOne]);
    expect(await counted(await folder.open())).toBe(6);
  });
});

function holdLock(process: string): void {
  writeFileSync(join(folder.ledger, "lock", "token"), JSON.stringify({ token: "token", process }));
}

describe("the lock", () => {
  test("of a process that was killed while it held it is taken over", async () => {
    await writeLedger(folder, 1);
    const child = spawn("sleep", ["600"], { stdio: "ignore" });
    await new Promise((resolve) => child.once("spawn", resolve));
    holdLock(identifyProcess(child.pid));
    await expect(folder.open()).rejects.toThrow(/is locked by process/u);
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
    const openings = await Promise.all([1, 2, 3, 4].map(async () => await folder.open()));
    await Promise.all(openings.map(async (store) => await store.write([countOne])));
    expect(await counted(await folder.open())).toBe(5);
  });

  test("of a process that nobody can look up is left alone, and the error tells what to do", async () => {
    await writeLedger(folder, 1);
    holdLock("0f8fad5b-d9cb-469f-a165-70867728950e/4026531836/1/1");
    const error: unknown = await folder.open().catch((thrown: unknown) => thrown);
    const next: unknown = expect.stringContaining(`rm ${join(folder.ledger, "lock", "token")}`);
    expect(error).toMatchObject({ kind: "unavailable", next });
    rmSync(join(folder.ledger, "lock", "token"));
    expect(await counted(await folder.open())).toBe(1);
  });

  test("leaves nothing behind when all have closed the ledger", async () => {
    const openings = await Promise.all([1, 2, 3].map(async () => await folder.open()));
    await Promise.all(openings.map(async (store) => await store.write([countOne])));
    await Promise.all(folder.stores.splice(0).map(async (store) => await store.close()));
    expect(readdirSync(folder.ledger).toSorted()).toEqual([
      "head",
      "journal-0",
      "lock",
      "snapshot-0",
    ]);
    expect(readdirSync(join(folder.ledger, "lock"))).toEqual([]);
  });
});
