import { DockerfileParser } from "dockerfile-ast";
import { DockerfileProblem } from "./instruction.ts";
import { splitFlags, splitWords } from "./split-words.ts";

/** A heredoc as it stands in the file: `content` is verbatim, its last newline included. */
export interface RawHeredoc {
  readonly name: string;
  readonly content: string;
  readonly expand: boolean;
  readonly chomp: boolean;
  /** The word that opened it, for example `<<-'EOF'`. */
  readonly word: string;
}

export interface RawInstruction {
  readonly keyword: string;
  /** The text after the keyword as one line: continuations joined, comments inside dropped. */
  readonly args: string;
  readonly heredocs: readonly RawHeredoc[];
  readonly line: number;
  readonly endLine: number;
}

export interface RawDockerfile {
  readonly instructions: readonly RawInstruction[];
  /** `\` or, by directive, a backtick. */
  readonly escape: string;
}

const HEREDOC_KEYWORDS = new Set(["RUN", "COPY", "ADD"]);
/** Each costs one more parse of the rest of the file. */
const MAX_MISJUDGED_ENDS = 16;
/** Real Dockerfiles have a few kB; the parser's time grows faster than the text. */
const MAX_CHARACTERS = 256 * 1024;

/**
 * Cuts a Dockerfile into instructions. The parser says where instructions begin and which escape
 * character counts. Joining lines and finding heredocs is ours: the parser's joined text keeps
 * comments, its words lose blanks and backslashes, and it takes `"a <<EOF"` in quotes for a heredoc
 * that swallows the rest of the file. Where its end of an instruction differs from ours, the rest of
 * the file is parsed anew from our end.
 */
export function splitInstructions(text: string): RawDockerfile {
  if (text.length > MAX_CHARACTERS) {
    throw new DockerfileProblem(1, `${text.length} characters, at most ${MAX_CHARACTERS} are read`);
  }
  const escape = readEscape(text);
  const lines = text.split(/(?<=\n)|(?<=\r)(?!\n)/u);
  const instructions: RawInstruction[] = [];
  let misjudged = 0;
  let from: number | null = 0;
  while (from !== null) {
    from = readFrom(from, lines, escape, instructions);
    misjudged++;
    if (misjudged > MAX_MISJUDGED_ENDS) {
      const line = instructions.at(-1)?.line ?? 1;
      throw new DockerfileProblem(
        line,
        `more than ${MAX_MISJUDGED_ENDS} odd uses of "<<" in the file`,
      );
    }
  }
  return { instructions, escape };
}

function readEscape(text: string): string {
  const parsed = DockerfileParser.parse(text);
  for (const directive of parsed.getDirectives()) {
    const value = directive.getValue();
    if (directive.getName().toLowerCase() === "escape" && value !== "\\" && value !== "`") {
      const { line } = directive.getRange().start;
      throw new DockerfileProblem(line + 1, `escape directive is "${value}", not \\ or a backtick`);
    }
  }
  return parsed.getEscapeCharacter();
}

/** Reads instructions from line `from` on; gives the line to start over from, or null at the end. */
function readFrom(
  from: number,
  lines: readonly string[],
  escape: string,
  out: RawInstruction[],
): number | null {
  // A file that begins in the middle has to be told its escape character again; the blank line ends
  // the directives, so that no later comment is taken for one.
  const head = from === 0 ? "" : `# escape=${escape}\n\n`;
  const shift = from === 0 ? 0 : from - 2;
  const nodes = DockerfileParser.parse(head + lines.slice(from).join("")).getInstructions();
  for (const [at, node] of nodes.entries()) {
    const { start, end } = node.getRange();
    const first = start.line + shift;
    const instruction = readInstructionAt(first, lines, escape);
    out.push(instruction);
    const next = nodes[at + 1];
    const nextLine = next === undefined ? end.line + shift + 1 : next.getRange().start.line + shift;
    const isMisjudged = nextLine < instruction.endLine || end.line + shift >= instruction.endLine;
    if (isMisjudged) return instruction.endLine < lines.length ? instruction.endLine : null;
  }
  return null;
}

/** Reads the instruction that begins on line `first` (0-based). */
function readInstructionAt(
  first: number,
  lines: readonly string[],
  escape: string,
): RawInstruction {
  const command = joinLines(first, lines, escape);
  const [keyword = ""] = command.text.split(/\s/u);
  const args = command.text.slice(keyword.length).trim();
  const heredocs: RawHeredoc[] = [];
  let at = command.nextLine;
  for (const word of heredocWords(keyword, args, escape)) {
    const chomp = word.includes("<<-");
    const name = word.replace(/^\d*<<-?/u, "");
    const delimiter = name.replaceAll(/["']|\\(?=.)/gu, "");
    const end = findDelimiter(at, lines, delimiter, chomp);
    if (end === null)
      throw new DockerfileProblem(first + 1, `heredoc ${delimiter} is never closed`);
    const content = lines.slice(at, end).join("");
    heredocs.push({ name: delimiter, content, expand: !/["']/u.test(name), chomp, word });
    at = end + 1;
  }
  return { keyword: keyword.toUpperCase(), args, heredocs, line: first + 1, endLine: at };
}

function heredocWords(keyword: string, args: string, escape: string): readonly string[] {
  const upper = keyword.toUpperCase();
  if (upper === "ONBUILD") {
    const [trigger = ""] = args.split(/\s/u);
    return heredocWords(trigger, args.slice(trigger.length).trim(), escape);
  }
  if (!HEREDOC_KEYWORDS.has(upper)) return [];
  const { rest } = splitFlags(args);
  return splitWords(rest, escape).filter((word) => /^\d*<<-?[^<\s-][^<]*$/u.test(word));
}

function findDelimiter(
  from: number,
  lines: readonly string[],
  delimiter: string,
  chomp: boolean,
): number | null {
  for (let at = from; at < lines.length; at++) {
    const line = bare(lines[at]);
    if ((chomp ? line.replace(/^\t+/u, "") : line) === delimiter) return at;
  }
  return null;
}

/**
 * Joins continued lines as Docker does: a comment or blank line inside an instruction vanishes, a
 * single escape character at a line's end goes, and what else stands there, blanks included, stays.
 */
function joinLines(first: number, lines: readonly string[], escape: string) {
  const continuation = escape === "\\" ? /(^|[^\\])\\[ \t]*$/u : /(^|[^`])`[ \t]*$/u;
  let text = "";
  let at = first;
  for (; at < lines.length; at++) {
    const line = bare(lines[at]);
    if (at > first && /^\s*(?:#|$)/u.test(line)) continue;
    text += line.replace(continuation, "$1");
    if (!continuation.test(line)) {
      at++;
      break;
    }
  }
  return { text: text.replace(/^\uFEFF/u, "").trim(), nextLine: at };
}

function bare(line: string | undefined): string {
  return (line ?? "").replace(/[\r\n]+$/u, "");
}
