import type {
  CommandLine,
  HealthcheckInstruction,
  Instruction,
  NamedValue,
} from "./instruction.ts";
import { DockerfileProblem } from "./instruction.ts";
import { readFlags } from "./read-flags.ts";
import { readRun } from "./read-run.ts";
import { readTransfer } from "./read-transfer.ts";
import type { RawInstruction } from "./split-instructions.ts";
import { readJsonForm, splitAtBlanks, splitFlags, splitWords } from "./split-words.ts";

/** Reads one instruction into its type; throws `DockerfileProblem` with its line. */
export function readInstruction(raw: RawInstruction, escape: string): Instruction {
  const place = { line: raw.line, endLine: raw.endLine };
  switch (raw.keyword) {
    case "RUN":
      return readRun(raw);
    case "COPY":
    case "ADD":
      return readTransfer(raw, raw.keyword);
    case "ONBUILD":
      return { kind: "ONBUILD", trigger: readTrigger(raw, escape), ...place };
    case "HEALTHCHECK":
      return readHealthcheck(raw);
    case "FROM":
      return readFrom(raw);
    default:
      return readPlain(raw, escape);
  }
}

function readPlain(raw: RawInstruction, escape: string): Instruction {
  const place = { line: raw.line, endLine: raw.endLine };
  const { rest } = readFlags(raw, []);
  const kind = raw.keyword;
  switch (kind) {
    case "ENV":
    case "LABEL":
      return { kind, pairs: readPairs(raw, rest, escape), ...place };
    case "ARG":
      return { kind, args: readArgs(raw, rest, escape), ...place };
    case "WORKDIR":
    case "USER":
    case "STOPSIGNAL":
    case "MAINTAINER":
      return { kind, value: required(raw, rest), ...place };
    case "EXPOSE":
      return { kind, values: splitAtBlanks(required(raw, rest)), ...place };
    case "VOLUME": {
      const values = readJsonForm(rest) ?? splitAtBlanks(required(raw, rest));
      return { kind, values: stringsOnly(raw, values), ...place };
    }
    case "SHELL": {
      const values = stringsOnly(raw, readJsonForm(required(raw, rest)) ?? []);
      if (values.length === 0)
        throw problem(raw, "needs a JSON array, such as", '["/bin/sh", "-c"]');
      return { kind, values, ...place };
    }
    case "CMD":
    case "ENTRYPOINT":
      return { kind, command: readCommandLine(raw, rest), ...place };
    default:
      throw new DockerfileProblem(raw.line, `unknown instruction ${kind}`);
  }
}

/** JSON form or the text for a shell. */
function readCommandLine(raw: RawInstruction, text: string): CommandLine {
  const argv = readJsonForm(text);
  if (argv !== null) return { form: "exec", argv: stringsOnly(raw, argv) };
  return { form: "shell", script: required(raw, text) };
}

function readFrom(raw: RawInstruction): Instruction {
  const { flags, rest } = readFlags(raw, ["platform"]);
  const words = splitAtBlanks(rest);
  const [image, as, name] = words;
  const named = words.length === 3 && as?.toLowerCase() === "as";
  if (image === undefined || (words.length !== 1 && !named)) {
    throw new DockerfileProblem(raw.line, `FROM ${rest}: needs an image, or an image AS a name`);
  }
  const stage = name?.toLowerCase() ?? null;
  if (stage !== null && !/^[a-z][a-z0-9\-_.]*$/u.test(stage)) {
    throw problem(
      raw,
      "has a stage name that starts with no letter or holds odd characters:",
      stage,
    );
  }
  const place = { line: raw.line, endLine: raw.endLine };
  return { kind: "FROM", image, platform: flags.get("platform") ?? null, stage, ...place };
}

function readHealthcheck(raw: RawInstruction): HealthcheckInstruction {
  const names = ["interval", "timeout", "start-period", "start-interval", "retries"];
  const { flags, rest } = readFlags(raw, names);
  const place = { line: raw.line, endLine: raw.endLine };
  const [type = "", ...more] = required(raw, rest).split(/\s+/u);
  const command = rest.slice(type.length).trim();
  if (type.toUpperCase() === "NONE") {
    if (more.length > 0) throw problem(raw, "NONE takes no arguments, not", command);
    return { kind: "HEALTHCHECK", command: null, flags: {}, ...place };
  }
  if (type.toUpperCase() !== "CMD") throw problem(raw, "knows CMD and NONE, not", type);
  const line = readCommandLine(raw, command);
  return { kind: "HEALTHCHECK", command: line, flags: Object.fromEntries(flags), ...place };
}

function readTrigger(raw: RawInstruction, escape: string): Instruction {
  const [word = ""] = required(raw, raw.args).split(/\s/u);
  const keyword = word.toUpperCase();
  if (["ONBUILD", "FROM", "MAINTAINER"].includes(keyword)) {
    throw problem(raw, "cannot be followed by", keyword);
  }
  return readInstruction({ ...raw, keyword, args: raw.args.slice(word.length).trim() }, escape);
}

/** `NAME=value …`, or the old `NAME value` whose value is the rest of the line. */
function readPairs(raw: RawInstruction, text: string, escape: string): readonly NamedValue[] {
  const words = splitWords(required(raw, text), escape);
  const [first = ""] = words;
  if (!first.includes("=")) {
    const [name, value] = splitOnce(text, /[\t\v\f\r ]+/u);
    if (value === undefined) throw problem(raw, "needs a value for", name);
    return [{ name, value }];
  }
  return words.map((word) => {
    const equals = word.indexOf("=");
    if (equals < 1) throw problem(raw, "needs the form name=value, not", word);
    return { name: word.slice(0, equals), value: word.slice(equals + 1) };
  });
}

function readArgs(raw: RawInstruction, text: string, escape: string) {
  return splitWords(required(raw, text), escape).map((word) => {
    const equals = word.indexOf("=");
    if (equals === 0) throw problem(raw, "has no name in", word);
    return equals === -1
      ? { name: word, value: null }
      : { name: word.slice(0, equals), value: word.slice(equals + 1) };
  });
}

function splitOnce(text: string, separator: RegExp): [string, string | undefined] {
  const match = separator.exec(text);
  if (match === null) return [text, undefined];
  return [text.slice(0, match.index), text.slice(match.index + match[0].length)];
}

function required(raw: RawInstruction, text: string): string {
  if (text === "") throw new DockerfileProblem(raw.line, `${raw.keyword} needs an argument`);
  return text;
}

function stringsOnly(raw: RawInstruction, values: readonly string[] | "not strings") {
  if (values === "not strings") {
    throw problem(raw, "holds something other than strings in", splitFlags(raw.args).rest);
  }
  return values;
}

function problem(raw: RawInstruction, rule: string, value: string): DockerfileProblem {
  return new DockerfileProblem(raw.line, `${raw.keyword} ${rule} ${value}`);
}
