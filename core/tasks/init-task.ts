import { BenchError } from "../errors.ts";
import { problemOfName } from "./task-names.ts";

/** A file to write, relative to the task's folder. */
export interface NewFile {
  readonly path: string;
  readonly content: string;
  readonly executable: boolean;
}

const DOCKERFILE = `FROM debian:bookworm-slim

WORKDIR /app
`;

const PROMPT = `Write the word hello into the file /app/hello.txt.
`;

const SOLVE = `#!/bin/bash
# The reference solution: \`bench run … -a oracle\` runs it instead of an agent.
set -euo pipefail

echo hello > /app/hello.txt
`;

const TEST = `#!/bin/bash
# Runs after the agent, as root. It must write a number from 0 to 1 in every case.
reward=0
if [ "$(cat /app/hello.txt 2>/dev/null)" = hello ]; then
  reward=1
fi
echo "$reward" > /logs/verifier/reward.txt
`;

const TASK_TOML = `version = "1.0"

[agent]
timeout_sec = 120

[verifier]
timeout_sec = 60

[environment]
cpus = 1
memory_mb = 2048
`;

const TASK_MD = `---
schema_version: "1.3"
agent:
  timeout_sec: 120
verifier:
  timeout_sec: 60
sandbox:
  cpus: 1
  memory_mb: 2048
---

${PROMPT}`;

/**
 * The files of a first task, small and whole: the oracle gets 1, an agent that does nothing gets 0.
 * Throws `BenchError` (usage) for a name that no task can have.
 */
export function initTask(name: string, layout: "harbor" | "native" = "harbor"): readonly NewFile[] {
  const problem = problemOfName(name);
  if (problem !== null) {
    throw new BenchError("usage", `${JSON.stringify(name)} cannot name a task: ${problem}`, {
      next: "choose a name of letters, digits, dots, dashes and underscores",
    });
  }
  const shared = [plain("environment/Dockerfile", DOCKERFILE)];
  if (layout === "native") {
    return [
      plain("task.md", TASK_MD),
      ...shared,
      script("oracle/solve.sh", SOLVE),
      script("verifier/test.sh", TEST),
    ];
  }
  return [
    plain("task.toml", TASK_TOML),
    plain("instruction.md", PROMPT),
    ...shared,
    script("solution/solve.sh", SOLVE),
    script("tests/test.sh", TEST),
  ];
}

function plain(path: string, content: string): NewFile {
  return { path, content, executable: false };
}

function script(path: string, content: string): NewFile {
  return { path, content, executable: true };
}
