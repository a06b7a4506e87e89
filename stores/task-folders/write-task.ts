import { chmod, mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { BenchError } from "../../core/errors.ts";
import type { NewFile } from "../../core/tasks/init-task.ts";

/**
 * Writes a new task's files. Throws `BenchError` (usage) when something stands there already, and
 * (unavailable) when it cannot be written; nothing that exists is replaced.
 */
export async function writeTask(dir: string, files: readonly NewFile[]): Promise<void> {
  const existing = await readdir(dir).catch(() => []);
  if (existing.length > 0) {
    throw new BenchError("usage", `${dir} is not empty`, {
      next: "name a folder that does not exist",
    });
  }
  try {
    for (const { path, content, executable } of files) {
      const full = join(dir, path);
      await mkdir(dirname(full), { recursive: true });
      await writeFile(full, content, { flag: "wx" });
      if (executable) await chmod(full, 0o755);
    }
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "failed";
    throw new BenchError("unavailable", `cannot write a task to ${dir} (${code})`, {
      next: "name a folder that can be written",
      cause,
    });
  }
}
