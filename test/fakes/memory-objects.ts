import { createHash } from "node:crypto";
import type {
  FoundObject,
  ObjectBody,
  ObjectStore,
  OpenObject,
} from "../../core/ports/object-store.ts";

/** Objects in memory, for tests: the same contract as S3's adapter. Counts what was asked of it. */
export class MemoryObjects implements ObjectStore {
  readonly objects = new Map<string, { readonly bytes: Buffer; readonly version: string }>();
  readonly calls: string[] = [];
  #versions = 0;

  async create(key: string, body: ObjectBody): Promise<"created" | "same" | "differs"> {
    this.calls.push(`create ${key}`);
    const chunks: Uint8Array[] = [];
    for await (const chunk of body.open()) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    if (hashOf(bytes) !== body.sha256 || bytes.length !== body.sizeBytes)
      throw new Error(`${key}: the body is not what it says`);
    const there = this.objects.get(key);
    if (there !== undefined) return there.bytes.equals(bytes) ? "same" : "differs";
    this.#put(key, bytes);
    return "created";
  }

  async replace(key: string, bytes: Uint8Array, expected: string | null): Promise<string | null> {
    this.calls.push(`replace ${key}`);
    if ((this.objects.get(key)?.version ?? null) !== expected) return null;
    return this.#put(key, Buffer.from(bytes));
  }

  async open(key: string, unless?: string): Promise<OpenObject | null> {
    this.calls.push(`open ${key}`);
    const found = this.objects.get(key);
    if (found === undefined || found.version === unless) return null;
    const { bytes, version } = found;
    return { key, sizeBytes: bytes.length, version, bytes: once(bytes) };
  }

  async *list(prefix: string): AsyncGenerator<FoundObject> {
    this.calls.push(`list ${prefix}`);
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix));
    for (const key of keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))) {
      const { bytes, version } = this.objects.get(key) ?? { bytes: Buffer.alloc(0), version: "" };
      yield { key, sizeBytes: bytes.length, version };
    }
  }

  async remove(key: string): Promise<void> {
    this.calls.push(`remove ${key}`);
    this.objects.delete(key);
  }

  #put(key: string, bytes: Buffer): string {
    this.#versions += 1;
    const version = `"v${this.#versions}"`;
    this.objects.set(key, { bytes, version });
    return version;
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
