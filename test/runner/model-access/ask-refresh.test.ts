import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { claudeLogin } from "../../../core/logins/claude-login.ts";
import { askRefresh } from "../../../runner/model-access/ask-refresh.ts";

const LOGIN = {
  accessToken: "old-access",
  refreshToken: "old-refresh",
  expiresAt: null,
  accountId: null,
  scopes: ["user:inference"],
};
const NOW = new Date("2026-11-30T12:00:00Z");

const asked: string[] = [];
const server = createServer((request, response) => {
  asked.push(request.url ?? "");
  const [, status = "", body = ""] = (request.url ?? "").split("/");
  response.writeHead(Number(status), { location: "/200/elsewhere" });
  response.end(decodeURIComponent(body));
});

beforeAll(async () => {
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
});

afterAll(() => {
  server.close();
});

async function ask(status: number, body: string): ReturnType<typeof askRefresh> {
  const { port } = server.address() as AddressInfo;
  const refreshUrl = `http://127.0.0.1:${String(port)}/${String(status)}/${encodeURIComponent(body)}`;
  return await askRefresh({ ...claudeLogin, refreshUrl }, LOGIN, NOW);
}

test("a provider's new tokens are a login that ends when it says", async () => {
  const body = JSON.stringify({ access_token: "new", expires_in: 3600 });
  expect(await ask(200, body)).toEqual({
    kind: "renewed",
    login: {
      ...LOGIN,
      accessToken: "new",
      expiresAt: new Date("2026-11-30T13:00:00Z"),
    },
  });
});

test.for([
  ["is no JSON", "<html>"],
  ["holds no token", "{}"],
  ["has an empty token", '{"access_token":"","expires_in":1}'],
] as const)("an answer that %s is a failure, of which nothing is told", async ([, body]) => {
  const why = "the provider's answer holds no tokens";
  expect(await ask(200, body)).toEqual({ kind: "failed", why });
});

test("a refusal ends the login, and a server's failure does not", async () => {
  expect(await ask(400, "no")).toEqual({ kind: "refused" });
  expect(await ask(503, "no")).toEqual({ kind: "failed", why: "the provider answered 503" });
});

test("a redirect is not followed: the tokens go to the one host", async () => {
  expect(await ask(307, "")).toMatchObject({ kind: "failed" });
  expect(asked).not.toContain("/200/elsewhere");
});
