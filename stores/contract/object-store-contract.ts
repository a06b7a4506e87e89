import assert from "node:assert/strict";
import type { ObjectStore } from "../../core/ports/object-store.ts";
import { bodyOfBytes, bytesOf, readObject } from "../objects/object-body.ts";
import { collect } from "./job-store-fixture.ts";

export interface ObjectStoreCase {
  readonly promise: string;
  /** The store holds nothing under `prefix`, which ends with a slash. */
  readonly check: (store: ObjectStore, prefix: string) => Promise<void>;
}

/** What every `ObjectStore` promises, as data, so that each adapter and each fake runs the same cases. */
export const objectStoreContract: readonly ObjectStoreCase[] = [
  {
    promise: "gives an object back as it was written, empty and binary ones too",
    check: async (store, prefix) => {
      for (const bytes of [new Uint8Array(), Uint8Array.of(0, 255, 13, 10), bigBytes()]) {
        const key = `${prefix}${bytes.length}`;
        assert.equal(await store.create(key, bodyOfBytes(bytes)), "created");
        const found = await store.open(key);
        assert.equal(found?.sizeBytes, bytes.length);
        assert.ok(found !== null && Buffer.from(bytes).equals(await bytesOf(found)));
      }
      assert.equal(await store.open(`${prefix}none`), null);
    },
  },
  {
    promise: "writes an object once: its own bytes again are no harm, other bytes change nothing",
    check: async (store, prefix) => {
      const key = `${prefix}result.json`;
      assert.equal(await store.create(key, bodyOfBytes("one")), "created");
      assert.equal(await store.create(key, bodyOfBytes("one")), "same");
      assert.equal(await store.create(key, bodyOfBytes("two")), "differs");
      assert.deepEqual(await readObject(store, key), Buffer.from("one"));
    },
  },
  {
    promise: "lets one of many writers that race create an object",
    check: async (store, prefix) => {
      const key = `${prefix}claim.json`;
      const racers = Array.from({ length: 12 }, (_, index) => bodyOfBytes(`racer ${index}`));
      const ends = await Promise.all(racers.map((body) => store.create(key, body)));
      assert.equal(ends.filter((end) => end === "created").length, 1);
      assert.equal(ends.filter((end) => end === "differs").length, 11);
    },
  },
  {
    promise: "replaces an object only for who read its last version",
    check: async (store, prefix) => {
      const key = `${prefix}manifest.json`;
      const first = await store.replace(key, Buffer.from("1"), null);
      assert.ok(first !== null);
      assert.equal(await store.replace(key, Buffer.from("x"), null), null);
      const second = await store.replace(key, Buffer.from("2"), first);
      assert.ok(second !== null && second !== first);
      assert.equal(await store.replace(key, Buffer.from("y"), first), null);
      assert.deepEqual(await readObject(store, key), Buffer.from("2"));
      assert.equal(await store.open(key, second), null);
      assert.equal((await store.open(key, first))?.version, second);
    },
  },
  {
    promise: "lists the objects of a prefix in byte order, whatever is in their names",
    check: async (store, prefix) => {
      const names = ["a b/ü&<>.txt", "a+b", "a%2Fb", "b/1", "b/10", "b/2", "日本"];
      for (const name of names.toReversed())
        await store.create(`${prefix}${name}`, bodyOfBytes(name));
      const found = await collect(store.list(prefix));
      const sorted = names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      assert.deepEqual(
        found.map(({ key }) => key),
        sorted.map((name) => `${prefix}${name}`),
      );
      for (const { key, sizeBytes } of found) {
        assert.equal(sizeBytes, Buffer.byteLength(key.slice(prefix.length)));
        assert.equal((await readObject(store, key))?.length, sizeBytes);
      }
      assert.deepEqual(await collect(store.list(`${prefix}none/`)), []);
    },
  },
  {
    promise: "lists more objects than one answer holds",
    check: async (store, prefix) => {
      const keys = Array.from(
        { length: 1005 },
        (_, index) => `${prefix}${String(index).padStart(4, "0")}`,
      );
      for (let start = 0; start < keys.length; start += 50) {
        const some = keys.slice(start, start + 50);
        await Promise.all(some.map((key) => store.create(key, bodyOfBytes(""))));
      }
      assert.deepEqual(
        (await collect(store.list(prefix))).map(({ key }) => key),
        keys,
      );
    },
  },
  {
    promise: "removes an object, and one that is not there without complaint",
    check: async (store, prefix) => {
      await store.create(`${prefix}grant`, bodyOfBytes("x"));
      await store.remove(`${prefix}grant`);
      await store.remove(`${prefix}grant`);
      assert.equal(await store.open(`${prefix}grant`), null);
    },
  },
];

/** More than one chunk of any stream. */
function bigBytes(): Uint8Array {
  return Uint8Array.from({ length: 300_000 }, (_, index) => (index * 7) % 251);
}
