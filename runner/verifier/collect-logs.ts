import type { AttemptFolder } from "../../core/ports/attempt-folder.ts";
import type { Sandbox } from "../../core/ports/sandbox.ts";
import { collectFolder } from "./collect-folder.ts";
import type { CollectedFolder, CollectLimits } from "./log-manifest.ts";
import { parseRecords, scriptCommand, valuesOf } from "./script-records.ts";

export interface CollectRequest {
  /** Files below `agent/` that the runner wrote itself and a sandbox must not replace. */
  readonly takenByRunner: ReadonlySet<string>;
  readonly signal: AbortSignal;
  readonly limits?: CollectLimits;
}

/** spec 11.6, for each of the two folders. */
export const LOG_LIMITS: CollectLimits = { maxFiles: 10_000, maxBytes: 1024 ** 3 };

/**
 * Brings /logs/agent and /logs/artifacts home, into `agent/` and `artifacts/`. Both are agent-made:
 * see `collectFolder` for what is taken. `artifacts-manifest.json` says what was stored, dropped,
 * listed and renamed, and is written when there was anything to say. Returns warnings for people.
 */
export async function collectLogs(
  sandbox: Sandbox,
  folder: AttemptFolder,
  { takenByRunner, signal, limits = LOG_LIMITS }: CollectRequest,
): Promise<readonly string[]> {
  const agent = { source: "/logs/agent", target: "agent", taken: takenByRunner };
  const artifacts = { source: "/logs/artifacts", target: "artifacts", taken: new Set<string>() };
  const collected: CollectedFolder[] = [];
  const empty = await emptyFolders(sandbox, [agent.source, artifacts.source], signal);
  for (const each of [agent, artifacts]) {
    if (empty.has(each.source)) continue;
    const result = await collectFolder(sandbox, folder, { ...each, limits, signal });
    if (result !== null) collected.push(result);
  }
  if (collected.some(hasContent)) {
    const manifest = { schema_version: 1, folders: collected };
    await folder.write("artifacts-manifest.json", `${JSON.stringify(manifest, null, 2)}\n`);
  }
  return collected.flatMap(warningsOf);
}

/** Names the folders of its arguments that hold nothing, with nothing but the shell's own words. */
const EMPTY_SCRIPT = String.raw`
for folder; do
  if [ -L "$folder" ] || [ ! -d "$folder" ]; then continue; fi
  for each in "$folder"/* "$folder"/.[!.]* "$folder"/..?*; do
    if [ -e "$each" ] || [ -L "$each" ]; then continue 2; fi
  done
  printf 'empty %s\0' "$folder"
done
`;

/**
 * Folders that need not be read: most trials leave both empty, and an archive costs a docker daemon
 * ten times what this command does. What cannot be told is read.
 */
async function emptyFolders(
  sandbox: Sandbox,
  folders: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const command = scriptCommand(EMPTY_SCRIPT, {}, signal);
  const completed = await sandbox.exec({ ...command, argv: [...command.argv, "sh", ...folders] });
  return new Set(valuesOf(parseRecords(completed.stdout), "empty"));
}

function hasContent(collected: CollectedFolder): boolean {
  const { stored_files, dropped_files, listed, incomplete } = collected;
  return stored_files + dropped_files + listed.length > 0 || incomplete !== null;
}

function warningsOf(collected: CollectedFolder): readonly string[] {
  const { source, dropped_files, dropped_bytes, incomplete } = collected;
  const dropped = `${dropped_files} files with ${dropped_bytes} bytes in ${source} were not kept`;
  return [
    ...(dropped_files > 0 ? [dropped] : []),
    ...(incomplete === null ? [] : [`${source} was not read to its end: ${incomplete}`]),
  ];
}
