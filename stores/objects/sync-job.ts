import { join } from "node:path";
import pLimit from "p-limit";
import { BenchError } from "../../core/errors.ts";
import { RunManifest } from "../../core/model/run-manifest.ts";
import type { ObjectStore } from "../../core/ports/object-store.ts";
import { bytesOf, readObject } from "./object-body.ts";
import { ATTEMPT_OBJECTS, type RunLayout } from "./run-layout.ts";
import { syncAttempt } from "./sync-attempt.ts";
import {
  looksUntouched,
  markOf,
  readSyncIndex,
  type SyncIndex,
  writeSyncIndex,
} from "./sync-index.ts";
import { hashOfFile, keepLocal, storedSegments, writeVerified } from "./synced-file.ts";

export interface SyncedJob {
  /** Attempts of the run that have ended. */
  readonly attempts: number;
  /** Files that were fetched now. */
  readonly fetched: number;
  /** Copies of files that someone had changed here. */
  readonly kept: readonly string[];
  /** Nothing will be added to the run. */
  readonly complete: boolean;
}

export interface SyncOptions {
  /** Hash every file here again, whatever the index of the last sync says. */
  readonly verify?: boolean;
  /** Attempts at a time. */
  readonly width?: number;
}

const WIDTH = 32;

/**
 * Mirrors a cloud run's job into a job folder here, also while the run goes on: every attempt that has
 * ended, then, once they are written, the job's own files. Compares hashes, never clocks; writes each
 * file verified and whole; deletes nothing. A second call without a change is one request.
 */
export async function syncJob(
  store: ObjectStore,
  layout: RunLayout,
  jobDir: string,
  options: SyncOptions = {},
): Promise<SyncedJob> {
  const index = readSyncIndex(jobDir, layout.run);
  const isWhole = options.verify !== true && isUntouched(jobDir, index);
  const unless = isWhole && index.manifest !== null ? index.manifest : undefined;
  const found = await store.open(layout.manifest, unless);
  if (found === null && unless !== undefined) {
    return {
      attempts: Object.keys(index.folders).length - 1,
      fetched: 0,
      kept: [],
      complete: true,
    };
  }
  const manifest = found === null ? null : parseManifest(await bytesOf(found), layout);
  const known = options.verify === true ? {} : index.folders;
  const attempts = await endedAttempts(store, layout, manifest);
  const folders: SyncIndex["folders"] = {};
  const ended: Ended = { fetched: 0, kept: [] };
  const limit = pLimit(options.width ?? WIDTH);
  const copies = await Promise.allSettled(
    [...attempts].map(([rolloutName, sealSha256]) =>
      limit(async () => {
        const dir = join(jobDir, ...storedSegments(rolloutName));
        const before = known[rolloutName];
        if (
          before !== undefined &&
          isSame(before.seal, sealSha256) &&
          looksUntouched(dir, before)
        ) {
          folders[rolloutName] = before;
          return;
        }
        const copy = {
          layout: layout.attempt(rolloutName),
          dir,
          sealSha256,
          before: index.folders[rolloutName],
        };
        const synced = await syncAttempt(store, copy);
        folders[rolloutName] = synced.folder;
        ended.fetched += synced.fetched;
        ended.kept.push(...synced.kept);
      }),
    ),
  );
  // Only now: nothing is written any more when the caller learns of a failure.
  const failure = copies.find((each) => each.status === "rejected");
  if (failure !== undefined) throw failure.reason;
  folders[""] = { seal: "", files: {} };
  if (manifest !== null)
    await syncJobFiles(store, { layout, jobDir, manifest, index }, { folders, ended });
  const complete = manifest?.complete ?? false;
  const version = complete && found !== null ? found.version : null;
  await writeSyncIndex(jobDir, { ...index, manifest: version, folders });
  return { attempts: attempts.size, ...ended, complete };
}

interface Ended {
  fetched: number;
  readonly kept: string[];
}

interface JobCopy {
  readonly layout: RunLayout;
  readonly jobDir: string;
  readonly manifest: RunManifest;
  readonly index: SyncIndex;
}

/** The job's own files, which a later manifest may name with other bytes. */
async function syncJobFiles(
  store: ObjectStore,
  { layout, jobDir, manifest, index }: JobCopy,
  { folders, ended }: { readonly folders: SyncIndex["folders"]; readonly ended: Ended },
): Promise<void> {
  const marks: SyncIndex["folders"][string]["files"] = {};
  for (const file of manifest.files) {
    const path = join(jobDir, ...storedSegments(file.path));
    const there = await hashOfFile(path);
    if (there !== file.sha256) {
      const bytes = await readObject(store, layout.jobFile(file.path));
      if (bytes === null) throw lacking(layout.jobFile(file.path));
      const last = index.folders[""]?.files[file.path]?.sha256;
      if (there !== null && last !== undefined && there !== last) {
        ended.kept.push(await keepLocal(path, there));
      }
      await writeVerified(jobDir, file, bytes);
      ended.fetched += 1;
    }
    marks[file.path] = { mark: markOf(path) ?? "", sha256: file.sha256 };
  }
  folders[""] = { seal: "", files: marks };
}

/**
 * Attempts that have ended: those of the manifest, and, while it is not complete, those that have got their
 * seals since, whose hashes nobody has recorded.
 */
async function endedAttempts(
  store: ObjectStore,
  layout: RunLayout,
  manifest: RunManifest | null,
): Promise<ReadonlyMap<string, string | null>> {
  const recorded = manifest?.attempts ?? [];
  const attempts = new Map<string, string | null>(
    recorded.map((each) => [each.rollout_name, each.seal_sha256]),
  );
  if (manifest?.complete === true) return attempts;
  for await (const { key } of store.list(layout.tree)) {
    const attempt = layout.attemptOf(key);
    if (attempt?.object !== ATTEMPT_OBJECTS.seal || attempts.has(attempt.rolloutName)) continue;
    attempts.set(attempt.rolloutName, null);
  }
  return attempts;
}

function isSame(sealSha256: string, expected: string | null): boolean {
  return expected === null || sealSha256 === expected;
}

function isUntouched(jobDir: string, { folders }: SyncIndex): boolean {
  return Object.entries(folders).every(([name, folder]) => {
    const dir = name === "" ? jobDir : join(jobDir, ...storedSegments(name));
    return looksUntouched(dir, folder);
  });
}

function parseManifest(bytes: Uint8Array, layout: RunLayout): RunManifest {
  try {
    return RunManifest.parse(JSON.parse(new TextDecoder().decode(bytes)));
  } catch (cause) {
    throw new BenchError("unavailable", `${layout.manifest} is no manifest`, {
      next: "run the same command again; when it stays so, the run's data is damaged",
      cause,
    });
  }
}

function lacking(key: string): BenchError {
  return new BenchError("unavailable", `${key} is gone, and the run's manifest lists it`, {
    next: "run the same command again",
  });
}
