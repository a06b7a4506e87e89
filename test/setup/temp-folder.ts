import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const made: string[] = [];

/** A new, empty folder, removed after the file's last test (remove-temp-folders.ts). */
export function tempFolder(name: string): string {
  const dir = mkdtempSync(join(tmpdir(), `bench-${name}-`));
  made.push(dir);
  return dir;
}

export function removeTempFolders(): void {
  for (const dir of made.splice(0)) rmSync(dir, { recursive: true, force: true });
}
