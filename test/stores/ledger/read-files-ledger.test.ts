import { appendFile, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createLedger } from "../../../core/ledger/create-ledger.ts";
import type { Deaths } from "../../../core/ports/ledger.ts";
import { openFilesLedger } from "../../../stores/ledger/files/files-ledger-store.ts";
import { readFilesLedger } from "../../../stores/ledger/files/read-files-ledger.ts";
import { snapshotOf, temporaryFolder } from "../files/store-builders.ts";

const ALIVE: Deaths = { stateOf: async () => "alive" };
const CAPS = { microUsd: 1_000_000, tokens: null, sandboxMs: null, rollouts: 5 };

test("a ledger that is only looked at is the one that was written, and nothing of it changes", async () => {
  const dir = join(temporaryFolder(), ".ledger");
  // Snapshots too: the reader has to find the present generation.
  const store = await openFilesLedger({ dir, compactBytes: 1 });
  const ledger = createLedger({ store, pot: "p", deaths: ALIVE });
  await ledger.open({ caps: CAPS, width: 4, breakerThreshold: 5 });
  for (let cap = 2; cap < 30; cap += 1)
    await ledger.open({ caps: { ...CAPS, rollouts: cap }, width: 4, breakerThreshold: 5 });
  const before = await snapshotOf(dir);
  const reader = readFilesLedger(dir);
  if (reader === null) throw new Error("no ledger");
  const seen = createLedger({ store: reader, pot: "p", deaths: ALIVE });
  expect(await seen.view()).toEqual(await ledger.view());
  await expect(seen.open({ caps: CAPS, width: 4, breakerThreshold: 5 })).rejects.toThrow(
    "only read",
  );
  await store.close();
  const after = await snapshotOf(dir);
  expect(Object.keys(before).length).toBeGreaterThan(2);
  for (const [name, bytes] of Object.entries(after)) expect(before[name]).toBe(bytes);
});

test("where there is none it says so and makes none", async () => {
  const root = temporaryFolder();
  expect(readFilesLedger(join(root, ".ledger"))).toBeNull();
  expect(await readdir(root)).toEqual([]);
});

test("a line that was being written is not counted, and one that was changed is damage", async () => {
  const dir = join(temporaryFolder(), ".ledger");
  const store = await openFilesLedger({ dir });
  const ledger = createLedger({ store, pot: "p", deaths: ALIVE });
  await ledger.open({ caps: CAPS, width: 1, breakerThreshold: 5 });
  const view = await ledger.view();
  await store.close();
  await appendFile(join(dir, "journal-0"), "0123");
  const reader = readFilesLedger(dir);
  if (reader === null) throw new Error("no ledger");
  expect(await createLedger({ store: reader, pot: "p", deaths: ALIVE }).view()).toEqual(view);
  await writeFile(join(dir, "journal-0"), "0123 {}\n");
  expect(() => readFilesLedger(dir)).toThrow("damaged");
});

test("a journal that lost writes which were acknowledged is damage, and not a smaller bill", async () => {
  const dir = join(temporaryFolder(), ".ledger");
  const store = await openFilesLedger({ dir });
  const ledger = createLedger({ store, pot: "p", deaths: ALIVE });
  await ledger.open({ caps: CAPS, width: 1, breakerThreshold: 5 });
  await ledger.open({ caps: { ...CAPS, rollouts: 6 }, width: 1, breakerThreshold: 5 });
  await store.close();
  const path = join(dir, "journal-0");
  const lines = (await readFile(path, "utf8")).split("\n");
  await writeFile(path, `${lines.slice(0, -2).join("\n")}\n`);
  expect(() => readFilesLedger(dir)).toThrow("damaged");
});
