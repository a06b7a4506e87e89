import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readTar } from "../../../core/tar/read-tar.ts";
import type { TarHeader } from "../../../core/tar/tar-entry.ts";
import { encodeHeader, writeTar } from "../../../core/tar/write-tar.ts";
import { tempFolder } from "../../setup/temp-folder.ts";

interface Sample {
  readonly header: TarHeader;
  readonly content: Uint8Array;
}

const nameBytes = fc
  .uint8Array({ minLength: 1, maxLength: 300 })
  .map((bytes) => bytes.map((byte) => (byte === 0 || byte === 0x2f ? 0x41 : byte)));

const sample: fc.Arbitrary<Sample> = fc
  .record({
    kind: fc.constantFrom("file", "directory", "symlink", "hardlink", "fifo"),
    name: nameBytes,
    linkName: nameBytes,
    mode: fc.integer({ min: 0, max: 0o7777 }),
    uid: fc.oneof(fc.integer({ min: 0, max: 70_000 }), fc.constant(4_294_967_294)),
    gid: fc.integer({ min: 0, max: 4_294_967_294 }),
    mtimeSeconds: fc.integer({ min: 0, max: 4_000_000_000 }),
    content: fc.uint8Array({ maxLength: 1500 }),
  })
  .map(({ content, ...fields }) => {
    const isLink = fields.kind === "symlink" || fields.kind === "hardlink";
    const body = fields.kind === "file" ? content : new Uint8Array();
    const header = {
      ...fields,
      linkName: isLink ? fields.linkName : new Uint8Array(),
      sizeBytes: body.byteLength,
    };
    return { header, content: body };
  });

async function pack(samples: readonly Sample[]): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  const entries = samples.map(({ header, content }) => ({ header, content: [content] }));
  for await (const chunk of writeTar(entries)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function* inChunks(bytes: Uint8Array, sizeBytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += sizeBytes) yield bytes.subarray(at, at + sizeBytes);
}

async function unpack(bytes: Uint8Array, chunkBytes = 1000): Promise<Sample[]> {
  const samples: Sample[] = [];
  for await (const { header, content } of readTar(inChunks(bytes, chunkBytes))) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of content) chunks.push(chunk);
    const isSlashed = header.kind === "directory" && header.name.at(-1) === 0x2f;
    const name = isSlashed ? header.name.subarray(0, -1) : header.name;
    samples.push({ header: { ...header, name }, content: Buffer.concat(chunks) });
  }
  return samples;
}

function plain(samples: readonly Sample[]): unknown {
  return samples.map(({ header, content }) => ({
    ...header,
    name: Buffer.from(header.name).toString("hex"),
    linkName: Buffer.from(header.linkName).toString("hex"),
    content: Buffer.from(content).toString("hex"),
  }));
}

describe("tar", () => {
  test("any names, owners, modes and bytes come back as they were written", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(sample, { maxLength: 5 }),
        fc.integer({ min: 1, max: 2000 }),
        async (samples, chunkBytes) => {
          expect(plain(await unpack(await pack(samples), chunkBytes))).toEqual(plain(samples));
        },
      ),
      { numRuns: 60 },
    );
  });

  test("an archive cut anywhere before its end mark is refused", async () => {
    const header = { mode: 0o644, uid: 0, gid: 0, mtimeSeconds: 0, linkName: new Uint8Array() };
    const whole = await pack([
      {
        header: { ...header, kind: "file", name: Buffer.from("a"), sizeBytes: 700 },
        content: new Uint8Array(700),
      },
      {
        header: { ...header, kind: "directory", name: Buffer.from("n".repeat(200)), sizeBytes: 0 },
        content: new Uint8Array(),
      },
    ]);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: whole.byteLength - 1025 }), async (cut) => {
        await expect(unpack(whole.subarray(0, cut))).rejects.toThrow("ends in the middle");
      }),
    );
  });

  test("content that nobody reads is skipped", async () => {
    const header = {
      kind: "file",
      mode: 0,
      uid: 0,
      gid: 0,
      mtimeSeconds: 0,
      linkName: new Uint8Array(),
    } as const;
    const whole = await pack(
      ["a", "b"].map((name) => ({
        header: { ...header, name: Buffer.from(name), sizeBytes: 1300 },
        content: new Uint8Array(1300),
      })),
    );
    const names: string[] = [];
    for await (const item of readTar(inChunks(whole, 100)))
      names.push(String(Buffer.from(item.header.name)));
    expect(names).toEqual(["a", "b"]);
  });

  test("GNU tar reads what is written, and is read, in each of its formats", async () => {
    const folder = tempFolder("tar");
    // ustar holds 100 bytes of a link, and longer names only cut in two.
    const long = "long-".repeat(18);
    const deep = join("in", long, "deeper".repeat(3));
    mkdirSync(join(folder, deep), { recursive: true });
    writeFileSync(join(folder, deep, "ü"), "content");
    symlinkSync(`../${long}`, join(folder, "in", "link"));
    for (const format of ["gnu", "posix", "ustar", "oldgnu"]) {
      const archive = execFileSync("tar", ["-C", folder, `--format=${format}`, "-cf", "-", "in"]);
      const read = await unpack(archive);
      expect(read.map(({ header }) => String(Buffer.from(header.name))).toSorted()).toEqual(
        ["in", `in/${long}`, deep, `${deep}/ü`, "in/link"].toSorted(),
      );
      const out = tempFolder("tar-out");
      execFileSync("tar", ["-C", out, "-xf", "-"], { input: await pack(read) });
      expect(readlinkSync(join(out, "in", "link"))).toBe(`../${long}`);
      expect(lstatSync(join(out, deep, "ü")).size).toBe(7);
    }
  });

  test("devices, damaged headers, wrong lengths and endless names are refused", async () => {
    const base = { kind: "file", mode: 0, uid: 0, gid: 0, sizeBytes: 0, mtimeSeconds: 0 } as const;
    const header = { ...base, name: Buffer.from("a"), linkName: new Uint8Array() };
    const retyped = (typeFlag: string, sizeBytes: number): Buffer => {
      const block = Buffer.from(encodeHeader({ ...header, sizeBytes }));
      const difference = typeFlag.charCodeAt(0) - "0".charCodeAt(0);
      block.write(typeFlag, 156);
      const sum = Number.parseInt(block.toString("latin1", 148, 154), 8) + difference;
      block.write(sum.toString(8).padStart(6, "0"), 148);
      return Buffer.concat([block, Buffer.alloc(2048)]);
    };
    await expect(unpack(retyped("3", 0))).rejects.toThrow('is of type "3"');
    await expect(unpack(retyped("4", 0))).rejects.toThrow('is of type "4"');
    await expect(unpack(retyped("L", 2 ** 30))).rejects.toThrow("extended header of");
    await expect(unpack(retyped("x", 20))).rejects.toThrow("wrong length");
    const damaged = Buffer.from(encodeHeader(header));
    damaged[0] = 0x62;
    await expect(unpack(damaged)).rejects.toThrow("wrong checksum");
    await expect(
      pack([{ header: { ...header, sizeBytes: 5 }, content: new Uint8Array(4) }]),
    ).rejects.toThrow("shorter than the 5 bytes");
    await expect(
      pack([{ header: { ...header, sizeBytes: 5 }, content: new Uint8Array(6) }]),
    ).rejects.toThrow("longer than the 5 bytes");
  });
});
