import type { Command } from "../../core/ports/sandbox.ts";
import { SandboxError } from "../../core/ports/sandbox.ts";
import { isVariableName, quoteWord, quoteWords } from "./shell-words.ts";

/** Variables that the daemon or a shell puts into a process's environment by itself. */
const UNASKED = "PATH HOME HOSTNAME TERM PWD OLDPWD SHLVL";

/**
 * What the daemon starts in place of a command: it says its pid, so that the command can be killed,
 * goes to the folder, takes the environment out of numbered variables (so that no value steers this
 * shell or stands in a command line) and becomes the command. Bash puts back what was unset: then
 * env(1) takes it out again. First line on stderr: `p PID`, or `d`
 * when there is no such folder.
 */
const WRAPPER = `
if ! cd "$1" 2>/dev/null; then echo d >&2; exit 0; fi
echo "p $$" >&2
unset ${UNASKED}
BENCH_I=0
while [ "$BENCH_I" != "$2" ]; do
  eval "export \\"\\$BENCH_ENV_$BENCH_I\\"; unset BENCH_ENV_$BENCH_I"
  BENCH_I=$((BENCH_I + 1))
done
shift 2
unset BENCH_I
if [ -n "$BASH_VERSION" ] && [ -z "$SHLVL" ] && [ -x /usr/bin/env ]; then
  exec /usr/bin/env -u SHLVL -u _ "$@"
fi
exec "$@"
`;

/** A command that cannot be started as it is, whatever the sandbox. */
export function checkCommand(command: Command): void {
  for (const name of Object.keys(command.env))
    if (!isVariableName(name))
      throw new SandboxError(
        "unsupported",
        `the name ${JSON.stringify(name)} cannot be given to a command as an environment variable`,
      );
  const texts = [...command.argv, command.cwd, ...Object.values(command.env)];
  const withNul = texts.find((text) => text.includes("\0"));
  if (withNul !== undefined)
    throw new SandboxError("unsupported", `NUL in ${JSON.stringify(withNul.slice(0, 100))}`);
}

/** The body of `POST /containers/{id}/exec`. */
export function execBody(command: Command, hasStdin: boolean): Record<string, unknown> {
  const variables = Object.entries(command.env);
  return {
    AttachStdin: hasStdin,
    AttachStdout: true,
    AttachStderr: true,
    Tty: false,
    // With a group named, the daemon gives no supplementary ones.
    User: `${String(command.uid)}:${String(command.uid)}`,
    WorkingDir: "/",
    Env: variables.map(([name, value], index) => `BENCH_ENV_${String(index)}=${name}=${value}`),
    Cmd: ["/bin/sh", "-c", WRAPPER, "sh", command.cwd, String(variables.length), ...command.argv],
  };
}

/**
 * The same command as one line for the supervisor's worker, run in a session of its own after it has
 * said its pid. The shell's remarks about a child that a signal ended do not get into the command's
 * stderr, which is descriptor 3 here.
 */
export function workerLine(id: string, command: Command, setsid: string | null): string {
  const exports = Object.entries(command.env).map(([name, value]) => quoteWord(`${name}=${value}`));
  const setEnvironment = exports.length === 0 ? "" : `export ${exports.join(" ")}; `;
  const start = setsid === null ? "exec" : `exec ${setsid} --`;
  const cwd = quoteWord(command.cwd);
  return (
    `begin ${id}; if [ -d ${cwd} ]; then ( IFS=' ' read -r BENCH_P BENCH_R </proc/self/stat; ` +
    `say "j ${id} $BENCH_P"; exec </dev/null 2>&3 3>&-; cd ${cwd} || exit 126; ` +
    `unset ${UNASKED}; ${setEnvironment}${start} ${quoteWords(command.argv)} ); ` +
    `finish ${id} $?; else finish ${id} no-folder; fi`
  );
}
