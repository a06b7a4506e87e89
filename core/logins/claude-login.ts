import * as z from "zod";
import type { Login, LoginService } from "./login.ts";

const Tokens = z.looseObject({
  accessToken: z.string().min(1),
  refreshToken: z.string().nullish(),
  /** Milliseconds since 1970. */
  expiresAt: z.number().nullish(),
  scopes: z.array(z.string()).default([]),
});
const File = z.looseObject({ claudeAiOauth: Tokens.nullish() });

const Reply = z.looseObject({
  access_token: z.string().min(1),
  refresh_token: z.string().min(1).optional(),
  expires_in: z.number().positive(),
});

/** Claude Code's own client of Anthropic's login, as its program 2.1 has it. */
const CLIENT_ID = "9d1c250a-e61b-44d9-88ed-5944d1962f5e";

/** A Claude subscription, as Claude Code 2.1 keeps and renews it. */
export const claudeLogin: LoginService = {
  name: "Claude",
  provider: "anthropic",
  protocol: "anthropic-messages",
  baseUrl: "https://api.anthropic.com",
  refreshUrl: "https://platform.claude.com/v1/oauth/token",
  tokenNames: ["CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_OAUTH_TOKEN"],
  file: { folder: ".claude", name: ".credentials.json", folderName: "CLAUDE_CONFIG_DIR" },
  logIn: "claude /login",
  takesOutputLimit: true,
  parse(text) {
    const { claudeAiOauth: tokens } = File.parse(JSON.parse(text));
    if (tokens == null) return null;
    const { expiresAt, refreshToken } = tokens;
    return {
      accessToken: tokens.accessToken,
      refreshToken: refreshToken == null || refreshToken === "" ? null : refreshToken,
      expiresAt: expiresAt == null ? null : new Date(expiresAt),
      accountId: null,
      scopes: tokens.scopes,
    };
  },
  update(text, login) {
    const file = File.parse(JSON.parse(text));
    const claudeAiOauth = {
      ...file.claudeAiOauth,
      accessToken: login.accessToken,
      refreshToken: login.refreshToken,
      expiresAt: login.expiresAt?.getTime() ?? null,
    };
    return JSON.stringify({ ...file, claudeAiOauth });
  },
  headers: () => ({ "anthropic-beta": "oauth-2025-04-20" }),
  refreshBody: ({ refreshToken, scopes }) => ({
    grant_type: "refresh_token",
    refresh_token: refreshToken,
    client_id: CLIENT_ID,
    scope: scopes.join(" "),
  }),
  readReply(reply, before, now): Login | null {
    const read = Reply.safeParse(reply);
    if (!read.success) return null;
    const { access_token, refresh_token, expires_in } = read.data;
    return {
      ...before,
      accessToken: access_token,
      refreshToken: refresh_token ?? before.refreshToken,
      expiresAt: new Date(now.getTime() + expires_in * 1000),
    };
  },
};
