import { describe, expect, test } from "vitest";
import { claudeLogin } from "../../../core/logins/claude-login.ts";
import { codexLogin } from "../../../core/logins/codex-login.ts";
import { KEY_NAMES } from "../../../core/providers/providers.ts";
import { isCredentialName } from "../../../core/tasks/credential-names.ts";

test("no task and no agent is given a provider's key or a login's token", () => {
  const names = [...KEY_NAMES, ...claudeLogin.tokenNames, ...codexLogin.tokenNames];
  expect(names.filter((name) => !isCredentialName(name))).toEqual([]);
});

const NOW = new Date("2026-11-30T12:00:00Z");

function jwt(claims: object): string {
  return `h.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.s`;
}

describe("a Claude login", () => {
  const file = {
    claudeAiOauth: {
      accessToken: "sk-ant-oat01-a",
      refreshToken: "sk-ant-ort01-r",
      expiresAt: NOW.getTime(),
      scopes: ["user:inference", "user:profile"],
      subscriptionType: "max",
    },
    mcpOAuth: { other: "kept" },
  };

  test("is read with its end, and asked for anew with its scopes", () => {
    const login = claudeLogin.parse(JSON.stringify(file));
    if (login === null) throw new Error("no login");
    expect(login).toEqual({
      accessToken: "sk-ant-oat01-a",
      refreshToken: "sk-ant-ort01-r",
      expiresAt: NOW,
      accountId: null,
      scopes: ["user:inference", "user:profile"],
    });
    expect(claudeLogin.refreshBody(login)).toMatchObject({
      grant_type: "refresh_token",
      refresh_token: "sk-ant-ort01-r",
      scope: "user:inference user:profile",
    });
    const reply = { access_token: "a2", refresh_token: "r2", expires_in: 3600 };
    const next = claudeLogin.readReply(reply, login, NOW);
    if (next === null) throw new Error("no tokens");
    const text = claudeLogin.update(JSON.stringify(file), next, NOW);
    expect(JSON.parse(text)).toEqual({
      ...file,
      claudeAiOauth: {
        ...file.claudeAiOauth,
        accessToken: "a2",
        refreshToken: "r2",
        expiresAt: NOW.getTime() + 3_600_000,
      },
    });
  });

  test("that keeps its refresh token is renewed with the same one, and no answer is no login", () => {
    const login = claudeLogin.parse(JSON.stringify(file));
    if (login === null) throw new Error("no login");
    const next = claudeLogin.readReply({ access_token: "a2", expires_in: 60 }, login, NOW);
    expect(next).toMatchObject({ refreshToken: "sk-ant-ort01-r" });
    for (const odd of [null, {}, { access_token: "" }, { access_token: "a", expires_in: -1 }, "x"])
      expect(claudeLogin.readReply(odd, login, NOW)).toBeNull();
  });

  test("is none in a file without one", () => {
    expect(claudeLogin.parse("{}")).toBeNull();
    expect(claudeLogin.parse('{"claudeAiOauth":null}')).toBeNull();
    expect(() => claudeLogin.parse("[]")).toThrow(/./u);
  });
});

describe("a ChatGPT login", () => {
  const access = jwt({
    exp: NOW.getTime() / 1000,
    "https://api.openai.com/auth": { chatgpt_account_id: "account-1" },
  });
  const file = {
    OPENAI_API_KEY: null,
    tokens: { id_token: "id", access_token: access, refresh_token: "r1" },
    last_refresh: "2026-11-01T00:00:00Z",
  };

  test("tells its end and its account by its token, and its account as a header", () => {
    const login = codexLogin.parse(JSON.stringify(file));
    if (login === null) throw new Error("no login");
    expect(login).toMatchObject({ expiresAt: NOW, accountId: "account-1", refreshToken: "r1" });
    expect(codexLogin.headers(login)).toEqual({ "chatgpt-account-id": "account-1" });
    const reply = { access_token: jwt({ exp: 2e9 }), refresh_token: "r2", id_token: "id2" };
    const next = codexLogin.readReply(reply, login, NOW);
    expect(next).toMatchObject({
      refreshToken: "r2",
      accountId: "account-1",
      expiresAt: new Date(2e12),
    });
    const text = codexLogin.update(JSON.stringify(file), next ?? login, NOW);
    expect(JSON.parse(text)).toMatchObject({
      OPENAI_API_KEY: null,
      tokens: { id_token: "id", refresh_token: "r2" },
      last_refresh: NOW.toISOString(),
    });
  });

  test.for(["opaque", "a.b.c", "a.e30.c", `a.${"x".repeat(5)}.c`])(
    "whose token %s says nothing of itself has no end that anybody knows",
    (token) => {
      const login = codexLogin.parse(JSON.stringify({ tokens: { access_token: token } }));
      expect(login).toMatchObject({ expiresAt: null, accountId: null, refreshToken: null });
    },
  );
});
