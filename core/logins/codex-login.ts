import * as z from "zod";
import { parseJson, recordOf } from "../usage/json-view.ts";
import type { Login, LoginService } from "./login.ts";

const Tokens = z.looseObject({
  access_token: z.string().min(1),
  refresh_token: z.string().nullish(),
  id_token: z.string().nullish(),
  account_id: z.string().nullish(),
});
const File = z.looseObject({ tokens: Tokens.nullish() });

const Reply = z.looseObject({
  access_token: z.string().min(1),
  refresh_token: z.string().min(1).optional(),
});

/** Codex's own client of OpenAI's login, as its program 0.166 has it. */
const CLIENT_ID = "app_EMoamEEZ73f0CkXaXp7hrann";

/** A ChatGPT subscription, as Codex 0.166 keeps and renews it. */
export const codexLogin: LoginService = {
  name: "ChatGPT",
  provider: "openai",
  protocol: "openai-responses",
  baseUrl: "https://chatgpt.com/backend-api/codex",
  refreshUrl: "https://auth.openai.com/oauth/token",
  tokenNames: [],
  file: { folder: ".codex", name: "auth.json", folderName: "CODEX_HOME" },
  logIn: "codex login",
  takesOutputLimit: false,
  parse(text) {
    const { tokens } = File.parse(JSON.parse(text));
    if (tokens == null) return null;
    const { access_token: accessToken, refresh_token: refreshToken, account_id: account } = tokens;
    return {
      accessToken,
      refreshToken: refreshToken == null || refreshToken === "" ? null : refreshToken,
      expiresAt: endOf(accessToken),
      accountId: account ?? accountOf(accessToken),
      scopes: [],
    };
  },
  update(text, { accessToken, refreshToken }, now) {
    const file = File.parse(JSON.parse(text));
    const tokens = { ...file.tokens, access_token: accessToken, refresh_token: refreshToken };
    return `${JSON.stringify({ ...file, tokens, last_refresh: now.toISOString() }, null, 2)}\n`;
  },
  headers: ({ accountId }) => (accountId === null ? {} : { "chatgpt-account-id": accountId }),
  refreshBody: ({ refreshToken }) => ({
    client_id: CLIENT_ID,
    grant_type: "refresh_token",
    refresh_token: refreshToken,
  }),
  readReply(reply, before): Login | null {
    const read = Reply.safeParse(reply);
    if (!read.success) return null;
    const { access_token: accessToken, refresh_token: refreshToken } = read.data;
    return {
      ...before,
      accessToken,
      refreshToken: refreshToken ?? before.refreshToken,
      expiresAt: endOf(accessToken),
    };
  },
};

/** What a token says of itself; nothing of it is trusted, only used. */
function claimsOf(token: string): Readonly<Record<string, unknown>> {
  const [, body = ""] = token.split(".");
  try {
    return recordOf(parseJson(atob(body.replaceAll("-", "+").replaceAll("_", "/"))));
  } catch {
    // No base64: a token that says nothing of itself.
    return {};
  }
}

function endOf(token: string): Date | null {
  const { exp } = claimsOf(token);
  return typeof exp === "number" && Number.isFinite(exp) ? new Date(exp * 1000) : null;
}

function accountOf(token: string): string | null {
  const auth = recordOf(claimsOf(token)["https://api.openai.com/auth"]);
  const id = auth["chatgpt_account_id"];
  return typeof id === "string" ? id : null;
}
