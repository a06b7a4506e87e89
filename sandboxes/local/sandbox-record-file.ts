import { mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import type { SandboxOwner, SandboxRecord } from "../../core/ports/sandbox.ts";
import { processState } from "../../host/process-identity.ts";
import type { StateFolder } from "./state-folder.ts";

/**
 * What a sandbox's folder says about it. Written whole before anything else of the sandbox exists,
 * and removed last: whatever a killed process left can be found and undone from it.
 */
const RecordFile = z.object({
  version: z.literal(1),
  id: z.string(),
  owner: z.object({
    runId: z.string(),
    jobName: z.string(),
    rolloutName: z.string(),
    process: z.string(),
    leaseMs: z.number(),
  }),
  /** Id of the image whose layers it stands on. */
  image: z.string(),
  createdAt: z.string(),
  expiresAt: z.string(),
  /** Every cgroup folder that was or will be made for it. */
  cgroups: z.array(z.object({ version: z.union([z.literal(1), z.literal(2)]), dir: z.string() })),
});
export type RecordFile = z.infer<typeof RecordFile>;

export type NewRecord = Pick<RecordFile, "id" | "image" | "cgroups"> & {
  readonly owner: SandboxOwner;
};

export const RECORD_FILE = "record.json";

export function sandboxDir(state: StateFolder, id: string): string {
  return join(state.dir, "sandboxes", id);
}

/** Makes the sandbox's folder with its record in it, in one step. */
export function createRecord(state: StateFolder, fields: NewRecord): RecordFile {
  const nowMs = Date.now();
  const record: RecordFile = {
    version: 1,
    ...fields,
    createdAt: new Date(nowMs).toISOString(),
    expiresAt: new Date(nowMs + fields.owner.leaseMs).toISOString(),
  };
  const staged = state.stage();
  writeFileSync(join(staged, RECORD_FILE), JSON.stringify(record));
  for (const name of ["ns", "disk"]) mkdirSync(join(staged, name));
  renameSync(staged, sandboxDir(state, fields.id));
  return record;
}

/** Moves the end of the lease. False when the sandbox is gone. */
export function extendRecord(state: StateFolder, id: string, leaseMs: number): boolean {
  const record = readRecord(state, id);
  if (record === null) return false;
  const expiresAt = new Date(Date.now() + leaseMs).toISOString();
  const path = join(sandboxDir(state, id), RECORD_FILE);
  writeFileSync(`${path}.new`, JSON.stringify({ ...record, expiresAt }));
  renameSync(`${path}.new`, path);
  return true;
}

/** The record of a sandbox, or null when there is none that can be read. */
export function readRecord(state: StateFolder, id: string): RecordFile | null {
  if (!isSandboxId(id)) return null;
  try {
    const text = readFileSync(join(sandboxDir(state, id), RECORD_FILE), "utf8");
    return RecordFile.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/** Ids of the images that a sandbox of the state folder stands on, or is about to. */
export function imagesInUse(state: StateFolder): Set<string> {
  const records = readdirSync(join(state.dir, "sandboxes")).map((id) => readRecord(state, id));
  return new Set(records.flatMap((record) => (record === null ? [] : [record.image])));
}

/** Ids are names of folders: nothing that could lead elsewhere is one. */
export function isSandboxId(id: string): boolean {
  return /^local-[0-9a-f]{16}$/u.test(id);
}

/** All sandboxes of the state folder; one whose record cannot be read is listed without an owner. */
export function listRecords(state: StateFolder): SandboxRecord[] {
  return readdirSync(join(state.dir, "sandboxes"))
    .filter(isSandboxId)
    .map((id) => {
      const record = readRecord(state, id);
      if (record === null)
        return { id, owner: null, createdAt: "", expiresAt: null, ownerState: "unknown" };
      const { owner, createdAt, expiresAt } = record;
      return { id, owner, createdAt, expiresAt, ownerState: processState(owner.process) };
    });
}
