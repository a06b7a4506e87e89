import type { Sha256 } from "../ports/hash.ts";
import { isCredentialName } from "../tasks/credential-names.ts";

/** Variables by name. */
type Variables = Readonly<Record<string, string>>;

/** Stands for a value that no file may hold. */
export const HIDDEN_VALUE = "***REDACTED***";

/** Spec 1.5, and what other names of secrets have in common. */
const SECRET_NAME =
  /KEY|TOKEN|SECRET|PASS|PWD|CREDENTIAL|COOKIE|AUTH|BEARER|SESSION|PRIVATE|SIGNATURE/u;
/** An address with a login in it. */
const LOGIN_IN_ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/[^/\s]*@/iu;

/** Whether a variable's value is kept out of every file: by its name, or by its look. */
export function isSecretVariable(name: string, value: string): boolean {
  return SECRET_NAME.test(name.toUpperCase()) || LOGIN_IN_ADDRESS.test(value);
}

/** The values that must stand in no file and no log. */
export function secretValues(env: Variables): string[] {
  return entriesOf(env).flatMap(([name, value]) => (isSecretVariable(name, value) ? [value] : []));
}

/** What config.json shows of them: the secret ones not at all (spec 1.5). */
export function shownVariables(env: Variables): Record<string, string> {
  return Object.fromEntries(
    entriesOf(env).filter(
      ([name, value]) => value !== HIDDEN_VALUE && !isSecretVariable(name, value),
    ),
  );
}

/** The same variables for whatever is printed or written: secrets replaced by a mark. */
export function hideSecretValues(env: Variables): Record<string, string> {
  return Object.fromEntries(
    entriesOf(env).map(([name, value]) => [
      name,
      isSecretVariable(name, value) ? HIDDEN_VALUE : value,
    ]),
  );
}

/**
 * What stands for them in the settings digest, which is written down: a value as it is, and of a secret
 * one the beginning of a hash, so that another value is another measurement and none can be read back.
 */
export function agentEnvMarks(env: Variables, sha256: Sha256): Record<string, string> {
  return Object.fromEntries(
    entriesOf(env).map(([name, value]) => {
      const hash = sha256(`agent-env\0${name}\0${value}`).slice(0, 12);
      return [name, isSecretVariable(name, value) ? `sha256:${hash}` : value];
    }),
  );
}

/** They steer the loader, the shell or the interpreter before the agent begins, or where its own files lie. */
const STEERS =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|IFS|ENV|BASH_ENV|TMPDIR|LD_.*|GLIBC_TUNABLES|GCONV_PATH|NODE_.*|XDG_.*|BENCH_.*|BENCHFLOW_.*|(?:CODEX|QWEN|COPILOT|GEMINI_CLI)_HOME|CLAUDE_CONFIG_DIR|OPENCODE_CONFIG.*|PI_.*_DIR)$/u;
/** They lead to another model, or around the way to the run's own. */
const LEADS_AWAY =
  /(?:_BASE_URL|_API_BASE|_ENDPOINT)$|^(?:HTTPS?|ALL|FTP|NO)_PROXY$|^CLAUDE_CODE_USE_/u;

/**
 * Why a variable cannot be given to an agent; null when it can. What its definition sets is not this
 * function's to know. Null bytes end a variable for the system, and would hide its rest.
 */
export function problemOfVariable(name: string, value: string): string | null {
  const upper = name.toUpperCase();
  if (!/^[A-Za-z_]\w*$/u.test(name)) return "no name of a variable";
  if (value.includes("\0")) return "its value holds a null byte";
  if (STEERS.test(upper)) return "it would change how the agent is started";
  if (LEADS_AWAY.test(upper)) return "it would lead the agent past its model proxy";
  return isCredentialName(name)
    ? "variables of providers and clouds stay out of sandboxes; an exported key is the model proxy's to use"
    : null;
}

function entriesOf(env: Variables): [string, string][] {
  return Object.entries(env).toSorted(([a], [b]) => (a < b ? -1 : 1));
}
