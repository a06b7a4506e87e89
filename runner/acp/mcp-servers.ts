import type { McpServer } from "../../core/model/task.ts";

/** A task's MCP servers as `session/new` takes them, and what of them it has no words for. */
export interface SessionServers {
  readonly servers: readonly object[];
  /** For `_meta.benchflow`: which tools of a server to offer (spec 10.2); null where all are. */
  readonly toolFilters: Readonly<Record<string, object>> | null;
}

export function sessionServers(servers: readonly McpServer[]): SessionServers {
  const filters = servers.flatMap((server): [string, object][] => {
    const { name, tools, includeTags, excludeTags } = server;
    const isFiltered = tools !== null || includeTags !== null || excludeTags !== null;
    return isFiltered
      ? [[name, { tools, include_tags: includeTags, exclude_tags: excludeTags }]]
      : [];
  });
  return {
    servers: servers.map((server) => serverOf(server)),
    toolFilters: filters.length === 0 ? null : Object.fromEntries(filters),
  };
}

/** Moves to the folder that the protocol has no field for, then becomes the server. */
const ENTER_SCRIPT = 'cd -- "$1" && shift && exec "$@"';

function serverOf(server: McpServer): object {
  const { name, transport, url, command: program, args, cwd, env, headers } = server;
  if (transport !== "stdio") {
    if (url === null) throw new Error(`MCP server ${name} has no url`);
    const type = transport === "sse" ? "sse" : "http";
    return { type, name, url, headers: pairs(headers) };
  }
  if (program === null) throw new Error(`MCP server ${name} has no command`);
  return cwd === null
    ? { name, command: program, args, env: pairs(env) }
    : {
        name,
        command: "/bin/sh",
        args: ["-c", ENTER_SCRIPT, "sh", cwd, program, ...args],
        env: pairs(env),
      };
}

function pairs(values: Readonly<Record<string, string>>): { name: string; value: string }[] {
  return Object.entries(values).map(([name, value]) => ({ name, value }));
}
