import { messageOf } from "../../../core/errors.ts";
import { type Completed, SandboxError } from "../../../core/ports/sandbox.ts";
import { applyInstruction } from "../../../core/tasks/dockerfile/apply-instruction.ts";
import { findFetch } from "../../../core/tasks/dockerfile/find-fetch.ts";
import type {
  Instruction,
  RunInstruction,
  RunMount,
} from "../../../core/tasks/dockerfile/instruction.ts";
import {
  type ImageConfig,
  type StageScope,
  runEnvironment,
} from "../../../core/tasks/dockerfile/stage-scope.ts";
import type { BuildContext } from "./build-context.ts";
import type { BuildRecipe } from "./build-recipe.ts";
import type { BuildShell } from "./build-shell.ts";
import { copyFiles } from "./copy-files.ts";

/** The reason of a step that fetches, and of one whose program is missing, and the way out. */
const NO_NETWORK =
  "local build steps have no network: install what is missing on this machine, or use --env docker";
const NO_PROGRAM =
  "local sandboxes have this machine's programs only: install it, or use --env docker";
const EXIT_NOT_FOUND = 127;

const SHOWN_LINES = 5;
const SHOWN_CHARS = 600;

/**
 * Carries out a Dockerfile's instructions in a sandbox, one after another, and gives the
 * configuration that the image has in the end. Throws `build-failed` with the line.
 */
export async function replayDockerfile(
  recipe: BuildRecipe,
  shell: BuildShell,
  context: () => BuildContext,
): Promise<ImageConfig> {
  let { scope } = recipe;
  for (const each of recipe.instructions) {
    const applied = expand(scope, each);
    await replayOne(applied.instruction, { scope: applied.scope, shell, context });
    scope = applied.scope;
  }
  return scope.config;
}

function expand(scope: StageScope, each: Instruction): ReturnType<typeof applyInstruction> {
  try {
    return applyInstruction(scope, each);
  } catch (error) {
    throw new SandboxError("build-failed", messageOf(error), { cause: error });
  }
}

interface Step {
  readonly scope: StageScope;
  readonly shell: BuildShell;
  readonly context: () => BuildContext;
}

async function replayOne(each: Instruction, step: Step): Promise<void> {
  const { scope, shell, context } = step;
  switch (each.kind) {
    case "RUN":
      return await runStep(each, step);
    case "COPY":
    case "ADD":
      return await copyFiles(each, { context: context(), shell, workdir: scope.config.workdir });
    case "WORKDIR":
      return await makeFolders([scope.config.workdir], shell, each.line);
    case "VOLUME":
      return await makeFolders(each.values, shell, each.line);
    // What these set is in the scope; the image is never started by its own command.
    case "ENV":
    case "ARG":
    case "LABEL":
    case "USER":
    case "SHELL":
    case "CMD":
    case "ENTRYPOINT":
    case "EXPOSE":
    case "HEALTHCHECK":
    case "MAINTAINER":
    case "ONBUILD":
    case "STOPSIGNAL":
    case "FROM":
  }
}

async function makeFolders(
  paths: readonly string[],
  shell: BuildShell,
  line: number,
): Promise<void> {
  if ((await shell.ask('mkdir -p -- "$@"', ...paths)) === null)
    throw new SandboxError(
      "build-failed",
      `Dockerfile:${String(line)}: ${paths.join(" ")} cannot be made`,
    );
}

async function runStep(each: RunInstruction, { scope, shell }: Step): Promise<void> {
  const user = await shell.findUser(scope.config.user, each.line);
  const made = await makeMounts(each.mounts, shell);
  const done = await shell.run({
    argv: await argvOf(each, scope, shell),
    cwd: scope.config.workdir,
    env: { HOME: user.home, ...runEnvironment(scope) },
    uid: user.uid,
    gid: user.gid,
  });
  if (made.length > 0) await shell.ask('rm -rf -- "$@"', ...made);
  if (done.exitCode === 0) return;
  throw failedStep(each, done);
}

/**
 * What a step lacks on a machine that stands for an image is this machine's; anything else is the
 * Dockerfile's own failure, with the last lines that it printed.
 */
function failedStep(each: RunInstruction, done: Completed): SandboxError {
  const output = new TextDecoder().decode(done.stderr.byteLength > 0 ? done.stderr : done.stdout);
  const lines = output.split("\n").map((line) => line.trim());
  const told = lines.filter((line) => line !== "").slice(-SHOWN_LINES);
  const ended = `Dockerfile:${String(each.line)}: RUN ended with exit code ${String(done.exitCode)}`;
  const fetcher = findFetch(each);
  const last = told.length === 0 ? "" : ` (${told.at(-1)?.slice(0, SHOWN_CHARS) ?? ""})`;
  if (fetcher !== null)
    return new SandboxError(
      "unsupported",
      `${ended}${last}: it calls ${fetcher}, and ${NO_NETWORK}`,
    );
  if (done.exitCode === EXIT_NOT_FOUND)
    return new SandboxError("unsupported", `${ended}${last}: ${NO_PROGRAM}`);
  const shown = told.join(" | ").slice(-SHOWN_CHARS);
  return new SandboxError("build-failed", shown === "" ? ended : `${ended}: ${shown}`);
}

const SCRIPT_PATH = "/.bench-run";

async function argvOf(
  { command }: RunInstruction,
  scope: StageScope,
  shell: BuildShell,
): Promise<[string, ...string[]]> {
  const write = `cat > ${SCRIPT_PATH} && chmod 755 ${SCRIPT_PATH}`;
  switch (command.form) {
    case "exec":
      return wordsOf(command.argv);
    case "shell":
      return wordsOf([...scope.config.shell, command.script]);
    case "file":
      // A script with an interpreter of its own is a file that is run and goes again.
      if ((await shell.ask(`printf %s "$1" | { ${write}; }`, command.content)) === null)
        throw new SandboxError("build-lost", "the script of a RUN could not be written");
      return ["/bin/sh", "-c", `${SCRIPT_PATH}; code=$?; rm -f ${SCRIPT_PATH}; exit $code`];
  }
}

function wordsOf(argv: readonly string[]): [string, ...string[]] {
  const [program, ...args] = argv;
  if (program === undefined) throw new SandboxError("build-failed", "a RUN without a command");
  return [program, ...args];
}

/** Cache and tmpfs mounts are folders for the step's time; one that was there before is left alone. */
async function makeMounts(mounts: readonly RunMount[], shell: BuildShell): Promise<string[]> {
  const made: string[] = [];
  for (const { options } of mounts) {
    const target = options["target"] ?? options["dst"] ?? options["destination"];
    if (target?.startsWith("/") !== true)
      throw new SandboxError("build-failed", "a RUN --mount without an absolute target");
    const answer = await shell.ask(
      'if [ -e "$1" ]; then echo there; else mkdir -p -- "$1"; fi',
      target,
    );
    if (answer === "") made.push(target);
  }
  return made;
}
