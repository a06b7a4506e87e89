import { BenchError } from "../../errors.ts";
import type { ArgInstruction, FromInstruction, Instruction } from "./instruction.ts";
import { DockerfileProblem } from "./instruction.ts";
import { readInstruction } from "./read-instruction.ts";
import { splitInstructions } from "./split-instructions.ts";

/** One `FROM` and what follows it. */
export interface Stage {
  readonly index: number;
  /** The name after `AS`, lower case. */
  readonly name: string | null;
  readonly from: FromInstruction;
  readonly instructions: readonly Instruction[];
}

export interface Dockerfile {
  /** Every instruction in file order, those of stages and the `ARG`s before them. */
  readonly instructions: readonly Instruction[];
  /** `ARG`s before the first `FROM`: visible to `FROM` lines and to a bare `ARG NAME` in a stage. */
  readonly globalArgs: readonly ArgInstruction[];
  /** At least one; the last is the image. */
  readonly stages: readonly Stage[];
  /** Line continuation and escape character. */
  readonly escape: string;
}

/**
 * Reads a Dockerfile. Pure: nothing is expanded, fetched or looked up.
 *
 * Throws `BenchError` (config) whose message is `<fileName>:<line>: what`, for anything Docker would
 * refuse to parse and for the few forms that are not supported here.
 */
export function parseDockerfile(text: string, fileName = "Dockerfile"): Dockerfile {
  try {
    const raw = splitInstructions(text);
    const read = raw.instructions.map((each) => readInstruction(each, raw.escape));
    return { ...groupStages(read), instructions: read, escape: raw.escape };
  } catch (error) {
    throw explainProblem(error, fileName);
  }
}

/** Turns a problem of the reader into the error that callers see; anything else passes through. */
export function explainProblem(error: unknown, fileName = "Dockerfile"): unknown {
  if (!(error instanceof DockerfileProblem)) return error;
  return new BenchError("config", `${fileName}:${error.line}: ${error.message}`, {
    next: `correct line ${error.line} of ${fileName}`,
    cause: error,
  });
}

function groupStages(read: readonly Instruction[]): Pick<Dockerfile, "globalArgs" | "stages"> {
  const globalArgs: ArgInstruction[] = [];
  const stages: { from: FromInstruction; instructions: Instruction[] }[] = [];
  for (const each of read) {
    const current = stages.at(-1);
    if (each.kind === "FROM") stages.push({ from: each, instructions: [] });
    else if (current !== undefined) current.instructions.push(each);
    else if (each.kind === "ARG") globalArgs.push(each);
    else throw new DockerfileProblem(each.line, `${each.kind} before the first FROM`);
  }
  if (stages.length === 0) throw new DockerfileProblem(1, "no FROM in the file");
  return {
    globalArgs,
    stages: stages.map(({ from, instructions }, index) => {
      return { index, name: from.stage, from, instructions };
    }),
  };
}
