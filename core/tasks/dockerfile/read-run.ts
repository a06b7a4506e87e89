import type { RunInstruction, RunMount } from "./instruction.ts";
import { DockerfileProblem } from "./instruction.ts";
import { readFlags } from "./read-flags.ts";
import type { RawHeredoc, RawInstruction } from "./split-instructions.ts";
import { readJsonForm } from "./split-words.ts";

/** Reads `RUN` in its shell, JSON and heredoc forms, with its mounts. */
export function readRun(raw: RawInstruction): RunInstruction {
  const { flags, repeated, rest } = readFlags(raw, ["mount", "network", "security", "device"]);
  if (flags.has("device")) {
    throw new DockerfileProblem(raw.line, "RUN --device is not supported: no sandbox has devices");
  }
  return {
    kind: "RUN",
    command: readCommand(raw, rest),
    mounts: (repeated.get("mount") ?? []).map((text) => readMount(raw, text)),
    network: flags.get("network") ?? null,
    security: flags.get("security") ?? null,
    line: raw.line,
    endLine: raw.endLine,
  };
}

function readCommand(raw: RawInstruction, text: string): RunInstruction["command"] {
  const argv = readJsonForm(text);
  if (text === "" || (argv !== null && argv.length === 0)) {
    throw new DockerfileProblem(raw.line, "RUN needs a command");
  }
  if (argv === "not strings") {
    throw new DockerfileProblem(raw.line, `RUN holds something other than strings in ${text}`);
  }
  if (argv !== null) return { form: "exec", argv };
  const [heredoc] = raw.heredocs;
  if (heredoc === undefined) return { form: "shell", script: text };
  if (raw.heredocs.length === 1 && text === heredoc.word) {
    const content = chomp(heredoc);
    if (content.startsWith("#!")) return { form: "file", content };
    return { form: "shell", script: content };
  }
  // The shell understands heredocs itself, so it gets them back as they were.
  const bodies = raw.heredocs.map((each) => `\n${each.content}${each.name}`);
  return { form: "shell", script: text + bodies.join("") };
}

/** `<<-` drops the tabs at the start of every line. */
export function chomp(heredoc: RawHeredoc): string {
  return heredoc.chomp ? heredoc.content.replaceAll(/^\t+/gmu, "") : heredoc.content;
}

function readMount(raw: RawInstruction, text: string): RunMount {
  const options: Record<string, string> = {};
  for (const field of text.split(",")) {
    const equals = field.indexOf("=");
    const name = (equals === -1 ? field : field.slice(0, equals)).toLowerCase();
    if (name === "") throw new DockerfileProblem(raw.line, `RUN --mount=${text}: empty option`);
    options[name] = equals === -1 ? "true" : field.slice(equals + 1);
  }
  const { type = "bind", ...rest } = options;
  if (!["bind", "cache", "tmpfs", "secret", "ssh"].includes(type)) {
    throw new DockerfileProblem(raw.line, `RUN --mount=${text}: unknown mount type ${type}`);
  }
  return { type, options: rest };
}
