import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BenchError } from "../../../core/errors.ts";
import { countOne, counted, useLedgerFolder, writeLedger } from "./ledger-folder.ts";

const folder = useLedgerFolder();

const journal = (): string => join(folder.ledger, "journal-0");

describe("a torn end", () => {
  test("that a killed writer left behind the acknowledged writes is dropped, and said so", async () => {
    await writeLedger(folder, 3);
    const whole = readFileSync(journal());
    for (const length of [1, 17, 60]) {
      appendFileSync(journal(), whole.subarray(0, length));
      const store = await folder.open();
      expect(await counted(store)).toBe(3);
      await store.close();
      expect(readFileSync(journal())).toEqual(whole);
    }
    expect(folder.notices).toHaveLength(3);
    expect(folder.notices[1]).toContain("17 bytes of a write that was never acknowledged");
  });

  test("of zeros, as a loss of power leaves it, is dropped too", async () => {
    await writeLedger(folder, 2);
    appendFileSync(journal(), Buffer.alloc(4096));
    const store = await folder.open();
    await store.write([countOne]);
    expect(await counted(await folder.open())).toBe(3);
  });

  test("of whole lines is kept: their writer died between the sync and the answer", async () => {
    await writeLedger(folder, 2);
    const [head, lines] = [readFileSync(join(folder.ledger, "head")), readFileSync(journal())];
    const more = await folder.open();
    await more.write([countOne]);
    await more.close();
    // The head as it was before the last write: it may lag behind, it never runs ahead.
    writeFileSync(join(folder.ledger, "head"), head);
    expect(readFileSync(journal()).length).toBeGreaterThan(lines.length);
    expect(await counted(await folder.open())).toBe(3);
    expect(await counted(await folder.open())).toBe(3);
    expect(folder.notices).toEqual([]);
  });

  test("that another process left is dropped by a process that has the ledger open", async () => {
    const store = await folder.open();
    await store.write([countOne]);
    appendFileSync(journal(), "0123456789abcdef {");
    await store.write([countOne]);
    expect(await counted(store)).toBe(2);
    expect(await counted(await folder.open())).toBe(2);
  });
});

/** Name, what happens to the folder, and whether a process that has the ledger open sees it at once. */
const damages: readonly (readonly [string, () => void, "seen at once" | "seen by the next"])[] = [
  [
    "the last acknowledged write is cut",
    () => {
      truncateSync(journal(), readFileSync(journal()).length - 5);
    },
    "seen at once",
  ],
  [
    "the last acknowledged line has another end",
    () => {
      writeFileSync(journal(), readFileSync(journal(), "utf8").replace(/\n$/u, "x"));
    },
    "seen by the next",
  ],
  [
    "the last acknowledged write is gone",
    () => {
      const text = readFileSync(journal(), "utf8");
      writeFileSync(journal(), text.slice(0, text.lastIndexOf("\n", text.length - 2) + 1));
    },
    "seen at once",
  ],
  [
    "one digit of an old write is another one",
    () => {
      writeFileSync(journal(), readFileSync(journal(), "utf8").replace('"by":1', '"by":2'));
    },
    "seen by the next",
  ],
  [
    "a write is left out",
    () => {
      const [, ...lines] = readFileSync(journal(), "utf8").split("\n");
      writeFileSync(journal(), lines.join("\n"));
    },
    "seen by the next",
  ],
  [
    "two writes are swapped",
    () => {
      const [one = "", two = "", ...lines] = readFileSync(journal(), "utf8").split("\n");
      writeFileSync(journal(), [two, one, ...lines].join("\n"));
    },
    "seen by the next",
  ],
  [
    "a whole line that no writer wrote follows",
    () => {
      appendFileSync(journal(), '0123456789abcdef {"n":5,"updates":[]}\n');
    },
    "seen at once",
  ],
  [
    "an older line follows once more",
    () => {
      const [one = ""] = readFileSync(journal(), "utf8").split("\n");
      appendFileSync(journal(), `${one}\n`);
    },
    "seen at once",
  ],
  [
    "the head is another one",
    () => {
      writeFileSync(join(folder.ledger, "head"), "");
    },
    "seen at once",
  ],
  [
    "the head is gone",
    () => {
      rmSync(join(folder.ledger, "head"));
    },
    "seen at once",
  ],
  [
    "the journal is gone",
    () => {
      rmSync(journal());
    },
    "seen by the next",
  ],
  [
    "the snapshot is gone",
    () => {
      rmSync(join(folder.ledger, "snapshot-0"));
    },
    "seen by the next",
  ],
  [
    "the snapshot is another one",
    () => {
      const path = join(folder.ledger, "snapshot-0");
      writeFileSync(path, readFileSync(path, "utf8").replace('"n":0', '"n":1'));
    },
    "seen by the next",
  ],
  [
    "the journal is a link",
    () => {
      renameSync(journal(), `${folder.ledger}-elsewhere`);
      symlinkSync(`${folder.ledger}-elsewhere`, journal());
    },
    "seen by the next",
  ],
];

/** Plain files of the ledger; what a process holds while it is open is no part of it. */
function contents(): Record<string, string> {
  const names = readdirSync(folder.ledger).filter((name) =>
    /^(?:head|journal|snapshot)/u.test(name),
  );
  return Object.fromEntries(
    names.map((name) => [name, readFileSync(join(folder.ledger, name), "latin1")]),
  );
}

describe("damage", () => {
  test.each(damages)("is refused and nothing is changed: %s", async (_name, damage) => {
    await writeLedger(folder, 4);
    damage();
    const before = contents();
    const error: unknown = await folder.open().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BenchError);
    expect(error).toMatchObject({ kind: "unavailable" });
    expect((error as BenchError).message).toContain(folder.ledger);
    expect(contents()).toEqual(before);
  });

  test.each(damages.filter(([, , seen]) => seen === "seen at once"))(
    "stops a process that is at work: %s",
    async (_name, damage) => {
      const store = await folder.open();
      for (let write = 0; write < 4; write += 1) await store.write([countOne]);
      damage();
      await expect(store.write([countOne])).rejects.toThrow(BenchError);
      await expect(store.read(["item"])).rejects.toThrow(BenchError);
    },
  );

  test("a ledger that was removed while it was in use is no ledger any more", async () => {
    const store = await folder.open();
    await store.write([countOne]);
    rmSync(folder.ledger, { recursive: true });
    await expect(store.write([countOne])).rejects.toThrow(BenchError);
    mkdirSync(folder.ledger);
    await expect(store.write([countOne])).rejects.toThrow(BenchError);
    expect(existsSync(join(folder.ledger, "head"))).toBe(false);
  });
});
