import type { Rewards } from "../model/outcome.ts";
import { isJsonObject } from "./aggregate-rewards.ts";
import { type JsonObject, parseStrictJson } from "./parse-strict-json.ts";
import { formatPythonFloat, parsePythonFloat, stripPythonWhitespace } from "./python-float.ts";
import {
  formatRange,
  isInRange,
  quoteName,
  type RewardRules,
  validateRewards,
} from "./validate-rewards.ts";

/** A reward file as it was found in the sandbox: its bytes, nothing, or why nobody read it. */
export type RewardFile =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "missing" }
  | {
      readonly kind: "unsafe";
      readonly reason:
        | "link"
        | "not a regular file"
        | "too large"
        | "listed twice"
        | "unreadable folder";
    };

export interface RewardFiles {
  readonly text: RewardFile;
  readonly json: RewardFile;
  /** How messages name the two files, for example `jobs/…/verifier/reward.txt`. */
  readonly textPath: string;
  readonly jsonPath: string;
}

/** Which rule a refused verdict broke. */
export type RewardRefusalKind = "missing" | "empty" | "unsafe" | "invalid" | "conflict";

export type ParsedRewards =
  | {
      readonly ok: Rewards;
      readonly warnings: readonly string[];
      /** The reward was computed by an aggregate policy: it stands in neither file. */
      readonly computed: boolean;
    }
  | { readonly refused: RewardRefusalKind; readonly message: string };

/** Reward files above this size are refused unread: a verdict is a number and a few metrics. */
export const MAX_REWARD_FILE_BYTES = 1024 * 1024;

/** reward.txt and reward.json agree when they differ by no more than this, relatively or absolutely. */
const TOLERANCE = 1e-9;

/**
 * The verdict in reward.txt and reward.json (spec 6.6, 6.7). Both files count: one that is unsafe,
 * empty or malformed voids the verdict even when the other one is fine, and two that disagree void
 * it too. Never throws, never gives a reward outside `rules.range`; `-0` becomes 0. The differences
 * from BenchFlow 0.7.5 are listed in docs/verifier.md.
 */
export function parseRewards(files: RewardFiles, rules: RewardRules): ParsedRewards {
  if (files.text.kind === "missing" && files.json.kind === "missing")
    return refuse("missing", `No reward file found at ${files.textPath} or ${files.jsonPath}`);
  const text = readText(files.text, files.textPath, rules);
  if ("refused" in text) return text;
  const object = readJson(files.json, files.jsonPath);
  if ("refused" in object) return object;
  if (object.ok === null)
    return text.ok === null
      ? refuse("missing", `No reward file found at ${files.textPath} or ${files.jsonPath}`)
      : { ok: { reward: text.ok }, warnings: [], computed: false };
  return combine(object, text.ok, { files, rules });
}

function combine(
  object: { ok: JsonObject | null; nonFinite: string | null },
  text: number | null,
  { files, rules }: { files: RewardFiles; rules: RewardRules },
): ParsedRewards {
  const valid = validateRewards(object.ok ?? {}, text, rules);
  const at = `Reward JSON file ${files.jsonPath}`;
  if ("refused" in valid) return refuse("invalid", `${at} ${valid.refused}`);
  // Also where lenient mode dropped the key: no strict reader could hold the file.
  if (object.nonFinite !== null)
    return refuse("invalid", `${at} holds a number that is not finite at '${object.nonFinite}'`);
  const { rewards, warnings, computed } = valid.ok;
  if (text !== null && !isClose(rewards.reward, text)) {
    const [fromJson, fromText] = [rewards.reward, text].map(formatPythonFloat);
    return refuse("conflict", `reward.json ${fromJson} does not match reward.txt ${fromText}`);
  }
  return { ok: rewards, warnings, computed };
}

type Read<T> = ({ readonly ok: T } & { readonly nonFinite: string | null }) | Refused;
type Refused = { readonly refused: RewardRefusalKind; readonly message: string };

function readText(file: RewardFile, path: string, rules: RewardRules): Read<number | null> {
  const content = decode(file, path, "text");
  if ("refused" in content) return content;
  if (content.ok === null) return { ok: null, nonFinite: null };
  if (stripPythonWhitespace(content.ok) === "")
    return refuse("empty", `Reward file is empty at ${path}`);
  const reward = parsePythonFloat(content.ok);
  if (reward === null) return refuse("invalid", `Failed to parse rewards from text file ${path}`);
  if (!isInRange(reward, rules.range)) {
    const what = `must contain a finite numeric reward between ${formatRange(rules.range)}`;
    return refuse("invalid", `Reward text file ${path} ${what}`);
  }
  return { ok: reward === 0 ? 0 : reward, nonFinite: null };
}

function readJson(file: RewardFile, path: string): Read<JsonObject | null> {
  const content = decode(file, path, "JSON");
  if ("refused" in content) return content;
  if (content.ok === null) return { ok: null, nonFinite: null };
  if (stripPythonWhitespace(content.ok) === "")
    return refuse("empty", `Reward file is empty at ${path}`);
  const parsed = parseStrictJson(content.ok);
  if ("refused" in parsed) {
    const { reason, duplicateKey } = parsed.refused;
    const what = duplicateKey === null ? reason : `${reason}: ${quoteName(duplicateKey)}`;
    const kind = duplicateKey === null ? "invalid" : "conflict";
    return refuse(kind, `Failed to parse rewards from JSON file ${path}: ${what}`);
  }
  const { value, nonFinite } = parsed.ok;
  return isJsonObject(value)
    ? { ok: value, nonFinite }
    : refuse("invalid", `Reward JSON file ${path} must contain a JSON object`);
}

/** UTF-8, strictly; a byte order mark stays and is then no number and no JSON, as in Python. */
function decode(
  file: RewardFile,
  path: string,
  what: string,
): { readonly ok: string | null } | Refused {
  if (file.kind === "missing") return { ok: null };
  if (file.kind === "unsafe")
    return refuse("unsafe", `Reward file at ${path} was not read: ${file.reason}`);
  if (file.bytes.length > MAX_REWARD_FILE_BYTES)
    return refuse("unsafe", `Reward file at ${path} was not read: too large`);
  try {
    return { ok: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(file.bytes) };
  } catch {
    // The decoder's only complaint is that the bytes are not UTF-8.
    return refuse("invalid", `Failed to parse rewards from ${what} file ${path}: not UTF-8`);
  }
}

/** Python's math.isclose with both tolerances at 1e-9. */
function isClose(a: number, b: number): boolean {
  const bound = Math.max(TOLERANCE * Math.max(Math.abs(a), Math.abs(b)), TOLERANCE);
  return Math.abs(a - b) <= bound;
}

function refuse(refused: RewardRefusalKind, message: string): Refused {
  return { refused, message };
}
