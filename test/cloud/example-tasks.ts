import { cpSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Tasks of examples/, without the wish for no network that Fargate cannot grant. */
export function exampleTasks(names: readonly string[]): string {
  const dir = mkdtempSync(join(tmpdir(), "bench-cloud-tasks-"));
  for (const name of names) {
    cpSync(join("examples/tasks", name), join(dir, name), { recursive: true });
    const file = join(dir, name, "task.toml");
    writeFileSync(file, readFileSync(file, "utf8").replace(/^network_mode = .*$/mu, ""));
  }
  return dir;
}
