import type { ModelProtocol } from "../model/exchange.ts";

/** What a login on this machine is worth to a provider. Never to be written but into its own file. */
export interface Login {
  readonly accessToken: string;
  /** Null for a token that cannot be renewed. */
  readonly refreshToken: string | null;
  /** When the access token ends; null where nobody says. */
  readonly expiresAt: Date | null;
  /** The account, where the provider wants it beside the token. */
  readonly accountId: string | null;
  readonly scopes: readonly string[];
}

/** How a subscription's login is kept, used and renewed (spec 9.4). */
export interface LoginService {
  /** For people, for example `Claude`. */
  readonly name: string;
  /** The provider whose key it stands for. */
  readonly provider: string;
  readonly protocol: ModelProtocol;
  readonly baseUrl: string;
  /** Where a refresh token becomes a new access token. */
  readonly refreshUrl: string;
  /** The variable of a token of its own, the first that is set; none where there is no such. */
  readonly tokenNames: readonly string[];
  /** The file below the home, and the variable that replaces its folder. */
  readonly file: { readonly folder: string; readonly name: string; readonly folderName: string };
  /** What to type for a new login. */
  readonly logIn: string;
  /** What the provider does not take beside such a login. */
  readonly takesOutputLimit: boolean;
  /** Of the file's text; null where it holds no login. Throws for text that is no such file. */
  parse(text: string): Login | null;
  /** The file's text with other tokens in it, and all else as it was. */
  update(text: string, login: Login, now: Date): string;
  /** Headers beside the bearer token; a list in `anthropic-beta` is added to the agent's own. */
  headers(login: Login): Readonly<Record<string, string>>;
  /** The body of a refresh, as JSON. */
  refreshBody(login: Login): object;
  /** What a refresh answered; null for what is no such answer. */
  readReply(reply: unknown, before: Login, now: Date): Login | null;
}
