import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { BenchError } from "../../core/errors.ts";
import type { ObjectStore } from "../../core/ports/object-store.ts";
import { bodyOfBytes } from "../../stores/objects/object-body.ts";

/** Folders where the build puts what runs in the cloud, seen from a chunk of dist/ and from this source. */
const FOLDERS = ["../cloud/", "../../dist/cloud/", "../../../dist/cloud/"];

/** The folder of the programs that run in the cloud. Throws `BenchError` where nothing was built. */
export function cloudProgramsDir(): string {
  const dirs = FOLDERS.map((folder) => fileURLToPath(new URL(folder, import.meta.url)));
  const found = dirs.find((dir) => existsSync(`${dir}task.mjs`));
  if (found !== undefined) return found;
  throw new BenchError("unavailable", "the programs that run in the cloud are not built", {
    next: "`npm run build`, then run the same command again",
  });
}

export interface SentPrograms {
  /** Source of the program that a task starts with. */
  readonly boot: string;
  /** Hashes of those that it fetches. */
  readonly programs: { readonly task: string; readonly execd: string };
}

/** Puts this version's programs into the bucket, under their hashes; those that are there stay. */
export async function sendPrograms(objects: ObjectStore): Promise<SentPrograms> {
  const dir = cloudProgramsDir();
  const send = async (name: string): Promise<string> => {
    const body = bodyOfBytes(readFileSync(`${dir}${name}.mjs`));
    await objects.create(`kit/${body.sha256}.mjs`, body);
    return body.sha256;
  };
  const [task, execd] = await Promise.all([send("task"), send("execd")]);
  return { boot: readFileSync(`${dir}boot.mjs`, "utf8"), programs: { task, execd } };
}
