import type { Refusal, Task, TaskConfig } from "../model/task.ts";
import { isCredentialName } from "./credential-names.ts";

export interface ExpandedTask<T> {
  /** The task with every template of its environment tables replaced. */
  readonly task: T;
  /** Host values that went in, by variable: what a log must not show. */
  readonly hostValues: Readonly<Record<string, string>>;
  /** Templates that may not or cannot be filled; with one of these the task does not start. */
  readonly refusals: readonly Refusal[];
  /** Defaults that were taken although the host has a value of its own. */
  readonly warnings: readonly string[];
}

export type HostEnv = Readonly<Record<string, string | undefined>>;

/**
 * Replaces `${VAR}` and `${VAR:-default}` in the environment tables of a task; a template is a whole
 * value, in the middle of text it stays as it is (spec 6.4). A host variable reaches a task only when
 * `--pass-env` names it, and a credential never does (attack 3). Pure.
 */
export function expandTaskEnv<T extends Pick<Task, "config">>(
  task: T,
  hostEnv: HostEnv,
  passEnv: readonly string[],
): ExpandedTask<T> {
  const expansion = new Expansion(hostEnv, passEnv);
  const { config } = task;
  const { sandbox, verifier, oracle } = config;
  const expanded: TaskConfig = {
    ...config,
    verifier: { ...verifier, env: expansion.fill("verifier.env", verifier.env) },
    oracle: { ...oracle, env: expansion.fill("oracle.env", oracle.env) },
    sandbox: {
      ...sandbox,
      env: expansion.fill("sandbox.env", sandbox.env),
      setupCommands: sandbox.setupCommands.map((command, index) => {
        const env = expansion.fill(`sandbox.setup_commands[${index}].env`, command.env);
        return Object.assign(structuredClone(command), { env });
      }),
      mcpServers: sandbox.mcpServers.map((server, index) => {
        const path = `sandbox.mcp_servers[${index}]`;
        const env = expansion.fill(`${path}.env`, server.env);
        const headers = expansion.fill(`${path}.headers`, server.headers);
        return Object.assign(structuredClone(server), { env, headers });
      }),
    },
  };
  const { hostValues, refusals, warnings } = expansion;
  return { task: { ...task, config: expanded }, hostValues, refusals, warnings };
}

/** Collects what happens while the tables are filled. */
class Expansion {
  readonly hostValues: Record<string, string> = {};
  readonly refusals: Refusal[] = [];
  readonly warnings: string[] = [];
  readonly #hostEnv: HostEnv;
  readonly #passed: ReadonlySet<string>;

  constructor(hostEnv: HostEnv, passEnv: readonly string[]) {
    this.#hostEnv = hostEnv;
    this.#passed = new Set(passEnv);
  }

  fill(path: string, table: Readonly<Record<string, string>>): Record<string, string> {
    const entries = Object.entries(table).map(([key, value]) => {
      return [key, this.#expand(`${path}.${key}`, value)];
    });
    return Object.fromEntries(entries);
  }

  #expand(path: string, value: string): string {
    const template = TEMPLATE.exec(value);
    if (template === null) return value;
    const [, name = "", , fallback] = template;
    const problem = this.#problemOf(name);
    const host = Object.hasOwn(this.#hostEnv, name) ? this.#hostEnv[name] : undefined;
    const isUsable =
      fallback === undefined ? host !== undefined : host !== undefined && host !== "";
    if (problem === null && host !== undefined && isUsable) {
      this.hostValues[name] = host;
      return host;
    }
    if (fallback !== undefined) {
      if (problem !== null && host !== undefined && host !== fallback) {
        this.warnings.push(`${path}: the default is taken for ${name}, ${problem}`);
      }
      return fallback;
    }
    const reason = problem ?? "which is not set on this machine";
    this.refusals.push({ path, reason: `asks for the host variable ${name}, ${reason}` });
    return value;
  }

  /** Why this variable may not be read, null when it may. */
  #problemOf(name: string): string | null {
    if (isCredentialName(name)) return "which holds a credential and is never passed to a task";
    return this.#passed.has(name)
      ? null
      : `which --pass-env does not name (--pass-env ${name} would)`;
  }
}

const TEMPLATE = /^\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^]*))?\}$/u;
