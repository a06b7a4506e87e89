import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { tempFolder as newFolder } from "../../setup/temp-folder.ts";

export async function tempFolder(): Promise<string> {
  return newFolder("task-folders");
}

/** Writes files below `dir`; a path that ends in `/` is a folder, text that begins with `->` a link. */
export async function writeFiles(
  dir: string,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  for (const [path, text] of Object.entries(files)) {
    const full = join(dir, path);
    await mkdir(path.endsWith("/") ? full : dirname(full), { recursive: true });
    if (path.endsWith("/")) continue;
    if (text.startsWith("->")) await symlink(text.slice(2), full);
    else await writeFile(full, text);
    if (path.endsWith(".sh") && !text.startsWith("->")) await chmod(full, 0o755);
  }
  return dir;
}

export const GOOD: Readonly<Record<string, string>> = {
  "task.toml": "[agent]\ntimeout_sec = 5\n",
  "instruction.md": "do it\n",
  "environment/Dockerfile": "FROM debian:bookworm-slim\n",
  "tests/test.sh": "#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n",
  "solution/solve.sh": "#!/bin/bash\ntrue\n",
};

export const without = (path: string): Record<string, string> => {
  return Object.fromEntries(Object.entries(GOOD).filter(([each]) => each !== path));
};
