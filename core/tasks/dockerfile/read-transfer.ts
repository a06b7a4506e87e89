import type { AddInstruction, CopyInstruction, InlineFile } from "./instruction.ts";
import { DockerfileProblem } from "./instruction.ts";
import { readFlags } from "./read-flags.ts";
import { chomp } from "./read-run.ts";
import type { RawInstruction } from "./split-instructions.ts";
import { readJsonForm, splitAtBlanks } from "./split-words.ts";

const SHARED_FLAGS = ["chown", "chmod", "link", "exclude"];
const COPY_FLAGS = [...SHARED_FLAGS, "from", "parents"];
const ADD_FLAGS = [...SHARED_FLAGS, "checksum", "keep-git-dir", "unpack"];

/** Reads `COPY` or `ADD`: word and JSON form, files written in place, flags. */
export function readTransfer(
  raw: RawInstruction,
  kind: "COPY" | "ADD",
): CopyInstruction | AddInstruction {
  const { flags, repeated, rest } = readFlags(raw, kind === "COPY" ? COPY_FLAGS : ADD_FLAGS);
  const words = readJsonForm(rest) ?? splitAtBlanks(rest);
  if (words === "not strings") {
    throw new DockerfileProblem(raw.line, `${kind} holds something other than strings in ${rest}`);
  }
  const dest = words.at(-1);
  if (dest === undefined || words.length < 2) {
    throw new DockerfileProblem(raw.line, `${kind} ${rest}: needs a source and a destination`);
  }
  const inline = new Map(raw.heredocs.map((heredoc) => [heredoc.word, heredoc]));
  if (inline.has(dest)) {
    throw new DockerfileProblem(raw.line, `${kind} ${dest}: a heredoc cannot be the destination`);
  }
  const files: InlineFile[] = [];
  const sources: string[] = [];
  for (const word of words.slice(0, -1)) {
    const heredoc = inline.get(word);
    if (heredoc === undefined) sources.push(word);
    else files.push({ name: heredoc.name, content: chomp(heredoc), expand: heredoc.expand });
  }
  const shared = {
    sources,
    files,
    dest,
    chown: flags.get("chown") ?? null,
    chmod: flags.get("chmod") ?? null,
    link: flags.get("link") === "true",
    exclude: repeated.get("exclude") ?? [],
    line: raw.line,
    endLine: raw.endLine,
  };
  if (kind === "ADD") {
    const unpack = flags.get("unpack");
    return {
      kind,
      ...shared,
      checksum: flags.get("checksum") ?? null,
      keepGitDir: flags.get("keep-git-dir") === "true",
      unpack: unpack === undefined ? null : unpack === "true",
    };
  }
  return { kind, ...shared, from: readFrom(raw, flags), parents: flags.get("parents") === "true" };
}

function readFrom(raw: RawInstruction, flags: ReadonlyMap<string, string>): string | null {
  const from = flags.get("from") ?? null;
  if (from?.includes("$") === true) {
    throw new DockerfileProblem(
      raw.line,
      `COPY --from=${from}: Docker expands no variables here, name a stage instead`,
    );
  }
  return from;
}
