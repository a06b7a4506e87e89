import { SandboxError } from "../../core/ports/sandbox.ts";
import { quoteWord } from "./shell-words.ts";

/** Sends a line to the supervisor and resolves to the parts of its answer. */
export type Ask = (line: (sequence: string) => Uint8Array) => Promise<readonly string[]>;

/** What the first path that is no plain folder is; `index` counts the folders before it. */
export interface WayEnd {
  readonly kind: "folder" | "link" | "other" | "missing";
  readonly index: number;
}

/**
 * Looks at paths in order, inside the sandbox, without following a link in the last part of any.
 * Paths are bytes as a latin1 string: file names need not be UTF-8.
 */
export async function walkPath(ask: Ask, paths: readonly string[]): Promise<WayEnd> {
  if (paths.length === 0) return { kind: "folder", index: 0 };
  const words = paths.map(quoteWord).join(" ");
  const answer = await ask((sequence) => Buffer.from(`way ${sequence} ${words}\n`, "latin1"));
  const [kind, index] = (answer.at(-1) ?? "").split(" ");
  if (kind !== "folder" && kind !== "link" && kind !== "other" && kind !== "missing")
    throw new SandboxError("lost", `sandbox lost: its supervisor answered ${String(kind)}`);
  return { kind, index: Number(index) };
}

/** Parts of an absolute path of the sandbox, as latin1 bytes; `..` has no business in one. */
export function pathParts(path: string): string[] {
  const bytes = Buffer.from(path, "utf8").toString("latin1");
  const parts = bytes.split("/").filter((part) => part !== "" && part !== ".");
  if (!path.startsWith("/") || parts.includes("..") || path.includes("\0"))
    throw new SandboxError("unsafe-path", `not an absolute path: ${JSON.stringify(path)}`);
  return parts;
}

/** `/a`, `/a/b`, `/a/b/c` for the parts of `/a/b/c`. */
export function pathsAlong(parts: readonly string[]): string[] {
  return parts.map((_, index) => `/${parts.slice(0, index + 1).join("/")}`);
}

/** A path for the daemon's query, which is UTF-8 text. */
export function asText(latin1Path: string): string {
  return Buffer.from(latin1Path, "latin1").toString("utf8");
}
