import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface TaskFiles {
  readonly solve?: string;
  readonly test?: string;
  readonly agent?: string;
  readonly toml?: string;
  readonly dockerfile?: string;
}

/** A Harbor task of a few lines; the default one is passed by its solution and by nothing else. */
export async function writeTask(dir: string, files: TaskFiles = {}): Promise<void> {
  for (const folder of ["environment", "tests", "solution"])
    await mkdir(join(dir, folder), { recursive: true });
  await writeFile(
    join(dir, "task.toml"),
    files.toml ?? 'version = "1.0"\n[agent]\ntimeout_sec = 60\n[verifier]\ntimeout_sec = 30\n',
  );
  await writeFile(join(dir, "instruction.md"), "Write 1 to /app/answer.\n");
  await writeFile(
    join(dir, "environment/Dockerfile"),
    files.dockerfile ?? "FROM debian:bookworm-slim\nWORKDIR /app\n",
  );
  await writeFile(join(dir, "solution/solve.sh"), script(files.solve ?? "echo 1 >/app/answer"));
  await writeFile(
    join(dir, "tests/test.sh"),
    script(
      files.test ?? "cp /app/answer /logs/verifier/reward.txt || echo 0 >/logs/verifier/reward.txt",
    ),
  );
  if (files.agent !== undefined) await writeFile(join(dir, "agent.sh"), script(files.agent));
}

function script(body: string): string {
  return `#!/bin/bash\n${body}\n`;
}
