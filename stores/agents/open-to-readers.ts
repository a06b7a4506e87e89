import { chmod, lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

/**
 * Makes a tree readable for every user, and writable for its owner alone, whatever the umask was when
 * it was made; links are left as they are. Resolves to the bytes of its files.
 */
export async function openToReaders(dir: string): Promise<number> {
  await chmod(dir, 0o755);
  let sizeBytes = 0;
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) sizeBytes += await openToReaders(path);
    else if (entry.isFile()) {
      const { mode, size } = await lstat(path);
      const isProgram = (mode & 0o111) !== 0;
      await chmod(path, isProgram ? 0o755 : 0o644);
      sizeBytes += size;
    }
  }
  return sizeBytes;
}
