import { BenchError } from "../../core/errors.ts";
import type { AgentDefinition } from "../../core/model/agent-definition.ts";
import { KEY_NAMES } from "../../core/providers/providers.ts";

/** Steps of a session that are the runner's own: an agent that was prompted twice would be measured twice. */
const OWN_METHODS =
  /^(?:initialize|authenticate|logout|session\/(?:new|load|resume|prompt|cancel|close))$/u;

/** The runner decides them, or the sandbox. */
const OWN_VARIABLES = new Set(["HOME", "LD_PRELOAD", "LD_AUDIT"]);

const TOKEN = /\{(?:quoted:)?token\}/u;
const ADDRESS = /\{(?:quoted:)?(?:origin|base)\}/u;
const EFFORT = /\{(?:quoted:)?effort\}/u;

/**
 * Holds a person's own agent to what a measurement needs, beyond its shape: it asks its model through
 * the trial's proxy with the trial's token, which stands on no command line, and does not take the
 * runner's part. Throws `BenchError` (`config`) that names what is wrong.
 */
export function checkOwnAgent(definition: AgentDefinition, file: string): void {
  const problem = problemOf(definition);
  if (problem === null) return;
  throw new BenchError("config", `--agent-file ${file}: ${problem}`, {
    next: "docs/agents.md tells the words that an agent is told its model by",
  });
}

function problemOf(definition: AgentDefinition): string | null {
  const { argv, env, files, calls, packages, effort } = definition;
  if (definition.login !== null) return "login is for agents of this edition alone";
  const texts = files.map(({ path, content }) => ({
    path,
    text: typeof content === "string" ? content : JSON.stringify(content),
  }));
  const told = [...Object.values(env), ...texts.map(({ text }) => text)];
  if (argv.some((word) => TOKEN.test(word)))
    return "argv holds {token}, which every process of the sandbox could read there";
  if (!told.some((text) => TOKEN.test(text)))
    return "no variable and no file holds {token}: it could not ask its model";
  if (![...told, ...argv].some((text) => ADDRESS.test(text)))
    return "nothing holds {origin} or {base}: it would not ask its model through the proxy";
  for (const [name, value] of [env, effortEnv(effort)].flatMap((each) => Object.entries(each))) {
    if (OWN_VARIABLES.has(name)) return `env sets ${name}, which is not an agent's to set`;
    if (KEY_NAMES.has(name) && !TOKEN.test(value))
      return `env sets ${name} to something else than {token}: keys have no place in a sandbox`;
  }
  const method = calls.find((call) => OWN_METHODS.test(call.method))?.method;
  if (method !== undefined) return `calls has ${method}, which is the runner's to call`;
  const paths = files.map(({ path }) => path);
  const twice = paths.find((path, at) => paths.indexOf(path) !== at || isBelow(path, paths));
  if (twice !== undefined) return `files has ${JSON.stringify(twice)} in the way of another file`;
  const usesTree = [...argv, ...told].some((text) => text.includes("{tree}"));
  return usesTree && Object.keys(packages).length === 0
    ? "it names {tree}, and packages is empty"
    : problemOfEffort(definition);
}

function effortEnv(effort: AgentDefinition["effort"]): Readonly<Record<string, string>> {
  return typeof effort === "object" && effort !== null && "env" in effort ? effort.env : {};
}

/** Without an effort its word is empty; and one that nobody hears would stand in results as if it were. */
function problemOfEffort({ effort, files, ...rest }: AgentDefinition): string | null {
  const always = JSON.stringify([rest, files.map(({ path, content }) => [path, content])]);
  if (EFFORT.test(always))
    return "{effort} stands where it is empty without --reasoning-effort: its places are withEffort and effort.env";
  if (effort === null || (typeof effort === "object" && "option" in effort)) return null;
  const told =
    effort === "files" ? files.map((file) => file.withEffort) : Object.values(effort.env);
  return told.some((text) => EFFORT.test(text))
    ? null
    : "effort is set, and nothing tells {effort}";
}

/** Whether a file stands where another one wants a folder. */
function isBelow(path: string, paths: readonly string[]): boolean {
  return paths.some((other) => other.startsWith(`${path}/`));
}
