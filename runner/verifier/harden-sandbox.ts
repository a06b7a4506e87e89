import type { Hardening } from "../../core/model/trial.ts";
import type { Sandbox } from "../../core/ports/sandbox.ts";
import { type Baseline, baselineLines } from "./baseline.ts";
import { findSuspects, type LoadedChanges } from "./find-suspects.ts";
import { HARDEN_SCRIPT } from "./harden-script.ts";
import { parseLoadedCode } from "./loaded-code.ts";
import { recordsOf, scriptCommand, type ScriptRecord, valuesOf } from "./script-records.ts";
import { escapeBytes } from "./stored-name.ts";

export interface HardenRequest {
  readonly workdir: string;
  readonly agentUid: number;
  readonly agentHome: string;
  /** True for the oracle: as root it may change all, so nothing it changed is suspect. */
  readonly agentWasRoot: boolean;
  /** A name or uid of the task's; null for root. */
  readonly verifierUser: string | null;
  readonly testsDir: "/tests" | "/verifier";
  readonly imagePath: string;
  readonly pythonPath: string;
  /** Download caches that the environment names: the variable and its folder. */
  readonly caches: Readonly<Record<string, string>>;
  /** The task's text: what it asks for by its file name is not suspect. */
  readonly instruction: string;
  readonly cleanupConftests: boolean;
  /** Null only where the agent never ran. */
  readonly baseline: Baseline | null;
  readonly signal: AbortSignal;
}

/** What hardening found; file names with bytes that are no UTF-8 escaped. Written as it is. */
export interface HardeningEvidence {
  /**
   * `suspect`: something that only root can write changed while an agent ran that is not root, or the
   * agent made a file that its verifier would load in the place of something that judges.
   * `partly watched`: nothing did where changes were looked for; `unwatched_folders` says where not.
   */
  readonly integrity: Hardening["integrity"];
  readonly unwatched_folders: readonly string[];
  readonly changed_system_files: readonly string[];
  /** Files that the verifier would load in the place of something that judges, and why. */
  readonly suspect_code: readonly string[];
  /** Files that configure builds or tests and that the agent added, changed or removed. */
  readonly changed_configs: readonly string[];
  /** Hooks and programs that git runs in the workspace since the agent worked there. */
  readonly git_programs: readonly string[];
  /** Planted code that was removed: conftest.py, sitecustomize.py, .pth and the like. */
  readonly removed_code: readonly string[];
  readonly removed_bytecode: readonly string[];
  /** Links of the workspace that left it. */
  readonly removed_links: readonly string[];
  readonly removed_jobs: readonly string[];
  /** Folders on PATH or PYTHONPATH that an agent could write, left out. */
  readonly distrusted_folders: readonly string[];
  /** Variables of download caches that the agent may have filled: the verifier has empty ones. */
  readonly replaced_caches: readonly string[];
  /** What could not be looked at or removed, as the walk said it. */
  readonly skipped: readonly string[];
  readonly notes: readonly string[];
}

export interface HardenedSandbox {
  readonly uid: number;
  readonly home: string;
  readonly path: readonly string[];
  readonly pythonPath: readonly string[];
  readonly imagePlugins: readonly string[];
  readonly isFedora: boolean;
  /** Variables of download caches that are replaced, with their empty folders. */
  readonly caches: Readonly<Record<string, string>>;
  readonly evidence: HardeningEvidence;
}

const NOTES: Readonly<Record<string, string>> = {
  freed: "the disk was full: files that the agent parked outside of its workspace were removed",
  full: "the disk is full",
  workspace: "the workspace had been replaced by something that is no folder",
};

/**
 * Takes a sandbox from its agent and makes it the verifier's, in one exec (spec 11.4). The agent's
 * processes must be proven gone. Throws `SandboxError` when a step failed: nothing is verified then.
 */
export async function hardenSandbox(
  sandbox: Sandbox,
  request: HardenRequest,
): Promise<HardenedSandbox> {
  const parameters = parametersOf(request);
  const command = scriptCommand(HARDEN_SCRIPT, parameters, request.signal);
  const completed = await sandbox.exec(
    hasLines(request.baseline) ? { ...command, stdin: baselineLines(request.baseline) } : command,
  );
  const records = recordsOf(completed, "hardening");
  const trusted = beforeAgentNames(records);
  const caches = valuesOf(trusted, "cache").map((name) => [name, `/run/verifier-cache/${name}`]);
  return {
    uid: Number(valuesOf(trusted, "uid")[0] ?? Number.NaN),
    home: valuesOf(trusted, "home")[0] ?? "/root",
    path: valuesOf(trusted, "path"),
    pythonPath: valuesOf(trusted, "pythonpath"),
    imagePlugins: valuesOf(trusted, "plugin").map((name) => name.trim()),
    isFedora: valuesOf(trusted, "fedora").length > 0,
    caches: Object.fromEntries(caches),
    evidence: evidenceOf(records, request, parameters.SINCE !== ""),
  };
}

function parametersOf(request: HardenRequest) {
  const caches = Object.entries(request.caches).filter(([, dir]) => /^\/[^\n]*$/u.test(dir));
  return {
    WORKDIR: request.workdir,
    AGENT_UID: String(request.agentUid),
    AGENT_HOME: request.agentHome,
    VERIFIER_USER: request.verifierUser ?? "",
    TESTS: request.testsDir,
    IMAGE_PATH: request.imagePath,
    PYTHON_PATH: request.pythonPath,
    CACHES: caches.map(([name, dir]) => `${name} ${dir}`).join("\n"),
    KEEP_CONFTESTS: request.cleanupConftests ? "0" : "1",
    HAS_BASELINE: hasLines(request.baseline) ? "1" : "0",
    SINCE: request.agentWasRoot ? "" : (request.baseline?.takenAt ?? ""),
  };
}

function hasLines(baseline: Baseline | null): boolean {
  return baseline !== null && baseline.bytecodeFolders.length + baseline.links.length > 0;
}

/** The records that the script prints before the first name that an agent chose. */
function beforeAgentNames(records: readonly ScriptRecord[]): readonly ScriptRecord[] {
  const end = records.findIndex(({ kind }) => kind === "report");
  return end === -1 ? [] : records.slice(0, end);
}

function evidenceOf(
  records: readonly ScriptRecord[],
  request: HardenRequest,
  isWatched: boolean,
): HardeningEvidence {
  const named = (kind: string): readonly string[] => valuesOf(records, kind).map(shownName);
  const changed = named("changed");
  const unwatched = isWatched ? named("unwatched") : ["/"];
  const loaded = changesOf(records, request);
  const suspects = loaded.suspects.map(shownName);
  return {
    integrity: integrityOf([...changed, ...suspects], unwatched),
    unwatched_folders: unwatched,
    changed_system_files: changed,
    suspect_code: suspects,
    changed_configs: loaded.changedConfigs.map(shownName),
    git_programs: loaded.gitPrograms.map(shownName),
    removed_code: named("planted"),
    removed_bytecode: named("pycache"),
    removed_links: named("link"),
    removed_jobs: named("job"),
    distrusted_folders: named("distrusted"),
    replaced_caches: named("cache"),
    skipped: [...named("skipped"), ...(isCut(records) ? [CUT_NOTE] : [])],
    notes: Object.entries(NOTES)
      .filter(([kind]) => named(kind).length > 0)
      .map(([, note]) => note),
  };
}

/** What the script prints at most of what it found. */
const MAX_FOUND_BYTES = 1_000_000;
const CUT_NOTE = "what was found beyond 1 MB of names is not listed";

/** Whether the list of what was found was cut; the record that was cut stands there without its end. */
function isCut(records: readonly ScriptRecord[]): boolean {
  const found = records.slice(records.findIndex(({ kind }) => kind === "found") + 1, -1);
  const bytes = found.reduce((sum, { kind, value }) => sum + kind.length + value.length + 2, 0);
  return bytes >= MAX_FOUND_BYTES;
}

const NOTHING: LoadedChanges = { suspects: [], changedConfigs: [], gitPrograms: [] };

/** The oracle's files are the task's own, and where no agent ran nothing changed. */
function changesOf(records: readonly ScriptRecord[], request: HardenRequest): LoadedChanges {
  const { baseline, agentWasRoot, workdir, instruction } = request;
  if (baseline === null || agentWasRoot) return NOTHING;
  const after = parseLoadedCode(records);
  return findSuspects({ before: baseline.loaded, after, workdir, instruction });
}

function integrityOf(
  suspects: readonly string[],
  unwatched: readonly string[],
): HardeningEvidence["integrity"] {
  if (suspects.length > 0) return "suspect";
  if (unwatched.includes("/")) return "not watched";
  return unwatched.length > 0 ? "partly watched" : "clean";
}

function shownName(bytes: string): string {
  return escapeBytes(Buffer.from(bytes, "latin1"));
}

/** Whether there is anything in the evidence that a reader should see. */
export function isRemarkable(evidence: HardeningEvidence): boolean {
  const { integrity, unwatched_folders: _, ...lists } = evidence;
  return integrity === "suspect" || Object.values(lists).some((list) => list.length > 0);
}
