import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { BenchError, messageOf } from "../core/errors.ts";
import { KEY_NAMES } from "../core/providers/providers.ts";
import { codeOf } from "../host/error-code.ts";
import type { CliContext } from "./context.ts";

const MAX_BYTES = 1024 * 1024;

/** Names that could send a key, a sandbox or this program itself somewhere else. */
const REDIRECTS =
  /BASE_URL|_PROXY$|^(?:AWS_|DOCKER_|NODE_|LD_|BENCHFLOW_|AZURE_(?!API_KEY)|GOOGLE_(?!API_KEY))/iu;

export interface Dotenv {
  /** Provider keys by name. */
  readonly keys: Readonly<Record<string, string>>;
  /** Names that stand there and are not taken from there, in order. */
  readonly ignored: readonly string[];
}

/**
 * The provider keys in the `.env` of the working folder, or in the file that `BENCHFLOW_DOTENV_PATH`
 * names (spec 5.4). A cloned folder's `.env` may give keys and nothing else (attack 3). Throws
 * `BenchError` (`config`) for a file that is there and cannot be read.
 */
export function readDotenv({ cwd, env }: Pick<CliContext, "cwd" | "env">): Dotenv {
  const named = env["BENCHFLOW_DOTENV_PATH"] ?? "";
  const text = readText(resolve(cwd, named === "" ? ".env" : named), named);
  const keys: Record<string, string> = {};
  const ignored: string[] = [];
  for (const line of text.split(/\r?\n/u)) {
    const [, name, value] = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=(.*)$/u.exec(line) ?? [];
    if (name === undefined || value === undefined) continue;
    if (KEY_NAMES.has(name)) keys[name] = unquoted(value.trim());
    else if (REDIRECTS.test(name)) ignored.push(name);
  }
  return { keys, ignored };
}

function readText(path: string, named: string): string {
  try {
    const found = statSync(path);
    if (!found.isFile()) throw new Error("it is no file");
    if (found.size > MAX_BYTES) throw new Error("it is larger than 1 MiB");
    return readFileSync(path, "utf8");
  } catch (cause) {
    if (codeOf(cause) === "ENOENT" && named === "") return "";
    throw new BenchError("config", `${named === "" ? ".env" : named}: ${messageOf(cause)}`, {
      next: "put the keys into the environment, or repair the file",
    });
  }
}

/** The text between quotes, else up to a remark. */
function unquoted(value: string): string {
  const [, , quoted] = /^(["'])(.*?)\1/u.exec(value) ?? [];
  return quoted ?? value.replace(/(?:^|\s)#.*$/u, "").trim();
}
