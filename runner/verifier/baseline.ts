import type { ByteStream } from "../../core/ports/sandbox.ts";
import { type LoadedCode, parseLoadedCode } from "./loaded-code.ts";
import { type ScriptRecord, valuesOf } from "./script-records.ts";

/**
 * What a sandbox looked like the moment before its agent started, held outside of it. Names are
 * strings of bytes (latin1).
 */
export interface Baseline {
  /** `__pycache__` folders of the workspace. */
  readonly bytecodeFolders: readonly string[];
  /** Symlinks of the workspace as `path -> target`. */
  readonly links: readonly string[];
  /** What the tests' programs would load from the workspace. */
  readonly loaded: LoadedCode;
  /** The sandbox's own clock, seconds since the epoch with whatever fraction it tells. */
  readonly takenAt: string;
}

/** Reads what `BASELINE_SCRIPT` printed; records of other scripts before it are ignored. */
export function parseBaseline(records: readonly ScriptRecord[]): Baseline {
  return {
    bytecodeFolders: valuesOf(records, "pycache"),
    links: valuesOf(records, "link"),
    loaded: parseLoadedCode(records),
    takenAt: valuesOf(records, "time")[0] ?? "",
  };
}

/** The baseline as the hardening script reads it from stdin. */
export async function* baselineLines(baseline: Baseline | null): ByteStream {
  if (baseline === null) return;
  const lines = [
    ...baseline.bytecodeFolders.map((folder) => `pycache ${folder}\n`),
    ...baseline.links.map((link) => `link ${link}\n`),
  ];
  if (lines.length > 0) yield Buffer.from(lines.join(""), "latin1");
}
