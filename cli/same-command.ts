import { isSecretVariable } from "../core/plan/agent-env.ts";

/**
 * The command line that was typed, as a shell takes it, with `--env local` in place of its own: what to
 * run where there is no Docker (docs/sandboxes-docker.md). A secret in it is not printed once more.
 */
export function sameCommandOnLocal(args: readonly string[]): string {
  const kept: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? "";
    if (word === "--env" || word === "--sandbox") at += 1;
    else if (args[at - 1] === "--agent-env") kept.push(withoutSecret(word));
    else if (word.startsWith(ENV_FLAG))
      kept.push(ENV_FLAG + withoutSecret(word.slice(ENV_FLAG.length)));
    else if (!/^--(?:env|sandbox)=/u.test(word)) kept.push(word);
  }
  return ["bench", ...kept, "--env", "local"].map(quoteWord).join(" ");
}

const ENV_FLAG = "--agent-env=";

function withoutSecret(variable: string): string {
  const at = variable.indexOf("=");
  const [name, value] = [variable.slice(0, at), variable.slice(at + 1)];
  return at !== -1 && isSecretVariable(name, value) ? `${name}=VALUE` : variable;
}

/** A word as a shell takes it: as it stands where nothing in it is the shell's, else in single quotes. */
export function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
