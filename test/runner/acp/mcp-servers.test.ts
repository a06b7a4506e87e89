import { expect, test } from "vitest";
import { McpServer } from "../../../core/model/task.ts";
import { sessionServers } from "../../../runner/acp/mcp-servers.ts";

const servers = (...inputs: object[]) =>
  sessionServers(inputs.map((input) => McpServer.parse(input)));

test("a program on stdin and stdout is told with its arguments and its environment as pairs", () => {
  const one = { name: "s", transport: "stdio", command: "run", args: ["-x"], env: { A: "1" } };
  expect(servers(one)).toEqual({
    servers: [{ name: "s", command: "run", args: ["-x"], env: [{ name: "A", value: "1" }] }],
    toolFilters: null,
  });
});

test("a program with a folder is started there, its words not read by the shell", () => {
  const one = { name: "s", transport: "stdio", command: "r;m", args: ["$x"], cwd: "/a b" };
  const { servers: told } = servers(one);
  expect(told).toMatchObject([
    { command: "/bin/sh", args: ["-c", expect.any(String), "sh", "/a b", "r;m", "$x"] },
  ]);
});

test("a remote one is told with its kind, its address and its headers", () => {
  const http = { name: "h", transport: "streamable-http", url: "http://x", headers: { K: "v" } };
  const sse = { name: "e", transport: "sse", url: "http://y" };
  expect(servers(http, sse).servers).toEqual([
    { type: "http", name: "h", url: "http://x", headers: [{ name: "K", value: "v" }] },
    { type: "sse", name: "e", url: "http://y", headers: [] },
  ]);
});

test("filters of tools go beside the servers, since the protocol has no field for them", () => {
  const one = { name: "s", transport: "sse", url: "u", tools: ["a"], excludeTags: ["b"] };
  expect(servers(one).toolFilters).toEqual({
    s: { tools: ["a"], include_tags: null, exclude_tags: ["b"] },
  });
});

test.for([
  [{ name: "s", transport: "stdio" }, "MCP server s has no command"],
  [{ name: "s", transport: "sse" }, "MCP server s has no url"],
] as const)("a server that cannot be reached is not told as one: %o", ([one, why]) => {
  expect(() => servers(one)).toThrow(why);
});
