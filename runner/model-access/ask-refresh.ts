import { messageOf } from "../../core/errors.ts";
import type { Login, LoginService } from "../../core/logins/login.ts";
import { parseJson } from "../../core/usage/json-view.ts";

const LIMIT_MS = 30_000;
const MAX_BYTES = 256 * 1024;

/** `refused`: the login is over. `failed`: nobody knows, and another try may succeed. */
export type RefreshAnswer =
  | { readonly kind: "renewed"; readonly login: Login }
  | { readonly kind: "refused" }
  | { readonly kind: "failed"; readonly why: string };

/** Asks a provider for new tokens, once. Nothing that it answers is in any message. */
export async function askRefresh(
  service: LoginService,
  login: Login,
  now: Date,
): Promise<RefreshAnswer> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(service.refreshUrl, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify(service.refreshBody(login)),
      // A token goes to the host that is named, and to no other one.
      redirect: "error",
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    text = await response.text();
  } catch (error) {
    return { kind: "failed", why: messageOf(error) };
  }
  const { status } = response;
  if (status === 400 || status === 401 || status === 403) return { kind: "refused" };
  if (!response.ok) return { kind: "failed", why: `the provider answered ${String(status)}` };
  const renewed = text.length > MAX_BYTES ? null : service.readReply(parseJson(text), login, now);
  return renewed === null
    ? { kind: "failed", why: "the provider's answer holds no tokens" }
    : { kind: "renewed", login: renewed };
}
