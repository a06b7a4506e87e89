/** What a stage's shell, or the kernel, is asked to run. */
export type CommandLine =
  | { readonly form: "shell"; readonly script: string }
  | { readonly form: "exec"; readonly argv: readonly string[] };

/** `RUN` has a third form: a lone heredoc whose first line is `#!…` is a file to execute. */
export type RunCommand = CommandLine | { readonly form: "file"; readonly content: string };

/** Where an instruction stands: 1-based, inclusive. */
interface Located {
  readonly line: number;
  readonly endLine: number;
}

/** `--mount=type=cache,target=/x`: options as written, `type` defaulted to bind. */
export interface RunMount {
  readonly type: string;
  readonly options: Readonly<Record<string, string>>;
}

/** A file written in the Dockerfile itself: `COPY <<NAME /dest`. */
export interface InlineFile {
  readonly name: string;
  readonly content: string;
  /** False when the delimiter was quoted: then variables in the content stay as they are. */
  readonly expand: boolean;
}

export interface NamedValue {
  readonly name: string;
  readonly value: string;
}

export interface FromInstruction extends Located {
  readonly kind: "FROM";
  readonly image: string;
  readonly platform: string | null;
  /** Lower case, as Docker compares it. */
  readonly stage: string | null;
}

export interface RunInstruction extends Located {
  readonly kind: "RUN";
  readonly command: RunCommand;
  readonly mounts: readonly RunMount[];
  readonly network: string | null;
  readonly security: string | null;
}

interface Transfer extends Located {
  readonly sources: readonly string[];
  readonly files: readonly InlineFile[];
  readonly dest: string;
  readonly chown: string | null;
  readonly chmod: string | null;
  readonly link: boolean;
  readonly exclude: readonly string[];
}

export interface CopyInstruction extends Transfer {
  readonly kind: "COPY";
  /** A stage's name or number, or an image reference; null for the build context. */
  readonly from: string | null;
  readonly parents: boolean;
}

export interface AddInstruction extends Transfer {
  readonly kind: "ADD";
  readonly checksum: string | null;
  readonly keepGitDir: boolean;
  /** null: Docker's default, which unpacks local archives and leaves fetched ones alone. */
  readonly unpack: boolean | null;
}

export interface HealthcheckInstruction extends Located {
  readonly kind: "HEALTHCHECK";
  /** null for `HEALTHCHECK NONE`. */
  readonly command: CommandLine | null;
  /** `interval`, `timeout`, `start-period`, `start-interval`, `retries` as written. */
  readonly flags: Readonly<Record<string, string>>;
}

export interface OnbuildInstruction extends Located {
  readonly kind: "ONBUILD";
  readonly trigger: Instruction;
}

interface Text<Kind extends string> extends Located {
  readonly kind: Kind;
  readonly value: string;
}

interface Words<Kind extends string> extends Located {
  readonly kind: Kind;
  readonly values: readonly string[];
}

interface Pairs<Kind extends string> extends Located {
  readonly kind: Kind;
  readonly pairs: readonly NamedValue[];
}

export interface ArgInstruction extends Located {
  readonly kind: "ARG";
  /** `value` is null for a bare `ARG NAME`. */
  readonly args: readonly { readonly name: string; readonly value: string | null }[];
}

export interface StartInstruction extends Located {
  readonly kind: "CMD" | "ENTRYPOINT";
  readonly command: CommandLine;
}

/**
 * One instruction of a Dockerfile. Values are as written, with quotes, escapes and variables in
 * place, until `applyInstruction` expands them; commands are never expanded here, because their
 * shell does that.
 */
export type Instruction =
  | FromInstruction
  | RunInstruction
  | CopyInstruction
  | AddInstruction
  | Pairs<"ENV">
  | Pairs<"LABEL">
  | ArgInstruction
  | Text<"WORKDIR">
  | Text<"USER">
  | Text<"STOPSIGNAL">
  | Text<"MAINTAINER">
  | Words<"SHELL">
  | Words<"EXPOSE">
  | Words<"VOLUME">
  | StartInstruction
  | HealthcheckInstruction
  | OnbuildInstruction;

/** A Dockerfile that cannot be read; `line` is 1-based. It becomes a `BenchError` at the border. */
export class DockerfileProblem extends Error {
  override readonly name = "DockerfileProblem";
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}
