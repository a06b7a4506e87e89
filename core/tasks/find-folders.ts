import type { TaskConfig } from "../model/task.ts";
import type { TaskFolders } from "./parse-result.ts";
import type { Problem } from "./problem.ts";
import { readVerifierDocument } from "./read-verifier-document.ts";
import type { TaskFiles } from "./task-files.ts";
import { hasFile, hasFolder, holdSameFiles } from "./task-files.ts";

/** Compose files that Docker itself looks for, in its order. */
const COMPOSE_FILES = ["compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"];

export type FoundFolders =
  | { readonly kind: "found"; readonly folders: TaskFolders }
  | { readonly kind: "invalid"; readonly problems: readonly Problem[] };

/**
 * Finds what scores and what solves a task. `verifier/` beats `tests/` and `oracle/` beats
 * `solution/`, even when the winner is empty (spec 6.3).
 */
export function findFolders(files: TaskFiles, config: TaskConfig): FoundFolders {
  const problems = [...differingTwins(files), ...missingEnvironment(files, config)];
  // A link counts as what its name says, so that the reason for refusing it is the true one.
  const verifierDir = ["folder", "symlink"].includes(files.entries.get("verifier")?.kind ?? "")
    ? "verifier"
    : "tests";
  const verifier = findVerifier(files, config, verifierDir);
  if (verifier.kind === "invalid") problems.push(...verifier.problems);
  if (verifier.kind === "invalid" || problems.length > 0) return { kind: "invalid", problems };
  const { command, aggregatePolicy, refusals } = verifier;
  const folders: TaskFolders = {
    verifierDir,
    oracleDir: findOracle(files),
    verifierCommand: command,
    aggregatePolicy,
    refusals,
  };
  return { kind: "found", folders };
}

/** The name of the task's compose file, null without one. */
export function findComposeFile(files: TaskFiles): string | null {
  return COMPOSE_FILES.find((name) => hasFile(files, `environment/${name}`)) ?? null;
}

/** A folder without a solve.sh solves nothing: an oracle that runs it would measure the empty task. */
function findOracle(files: TaskFiles): TaskFolders["oracleDir"] {
  const folder = hasFolder(files, "oracle") ? "oracle" : "solution";
  const kind = files.entries.get(`${folder}/solve.sh`)?.kind;
  return kind === "file" || kind === "symlink" ? folder : null;
}

type FoundVerifier =
  | ({ readonly kind: "found"; readonly command: string } & Pick<
      TaskFolders,
      "aggregatePolicy" | "refusals"
    >)
  | { readonly kind: "invalid"; readonly problems: readonly Problem[] };

function findVerifier(files: TaskFiles, config: TaskConfig, folder: string): FoundVerifier {
  const file = `${folder}/verifier.md`;
  const text = files.texts.get(file);
  if (text === undefined) {
    const command = "./test.sh";
    // Steps and judges are scored otherwise; their refusals are the true reason.
    const needsScript = config.steps.length === 0 && config.verifier.type === "test-script";
    const missing = needsScript
      ? missingFile(files, `${folder}/test.sh`, "a verifier needs it")
      : null;
    if (missing !== null) return { kind: "invalid", problems: [missing] };
    return { kind: "found", command, aggregatePolicy: null, refusals: [] };
  }
  const read = readVerifierDocument(text, file);
  if (read.kind === "invalid") return read;
  const { command, aggregatePolicy, refusals } = read.document;
  const missing = command === null ? null : missingScript(files, folder, command);
  if (missing !== null) return { kind: "invalid", problems: [missing] };
  return { kind: "found", command: command ?? "./test.sh", aggregatePolicy, refusals };
}

/** A command's first word with a `/` in it names a file of the verifier's folder. */
function missingScript(files: TaskFiles, folder: string, command: string): Problem | null {
  const [word = ""] = command.split(/\s/u);
  if (!word.includes("/")) return null;
  const path = word.split("/").filter((part) => part !== "" && part !== ".");
  return missingFile(
    files,
    [folder, ...path].join("/"),
    `verifier.md runs ${JSON.stringify(command)}`,
  );
}

function missingEnvironment(files: TaskFiles, config: TaskConfig): readonly Problem[] {
  if (config.steps.length > 0 || config.sandbox.dockerImage !== null) return [];
  if (findComposeFile(files) !== null) return [];
  const rule = "a task needs it, unless its docker_image names an image";
  const missing = missingFile(files, "environment/Dockerfile", rule);
  return missing === null ? [] : [missing];
}

function differingTwins(files: TaskFiles): readonly Problem[] {
  const pairs = [
    ["verifier", "tests"],
    ["oracle", "solution"],
  ] as const;
  return pairs.flatMap(([native, harbor]) => {
    const both = hasFolder(files, native) && hasFolder(files, harbor);
    if (!both || holdSameFiles(files, native, harbor)) return [];
    const message = `holds other files than ${native}/, which stands for the same`;
    return [{ file: `${harbor}/`, place: null, message }];
  });
}

/** Why there is no file at the path; null when there is one. */
export function missingFile(files: TaskFiles, path: string, rule: string): Problem | null {
  const kind = files.entries.get(path)?.kind;
  if (kind === "file") return null;
  const [folder = ""] = path.split("/");
  const link = [folder, path].find((each) => files.entries.get(each)?.kind === "symlink");
  const state = kind === undefined ? "is not there" : "is no file";
  return {
    file: link ?? path,
    place: null,
    message: `${link === undefined ? state : "is a link, and links are not followed"}, ${rule}`,
  };
}
