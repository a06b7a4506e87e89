import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** The prefix that redaction knows (spec 12.2). */
const PREFIX = "sk-benchflow-";

/** A credential for one trial: all that its sandbox ever holds. */
export function newTrialToken(): string {
  return PREFIX + randomBytes(32).toString("base64url");
}

/**
 * Tells whether a request carries the token in one of the places where agents put a key: the bearer
 * token, `x-api-key`, `x-goog-api-key`, `api-key`, or `?key=`. The comparison takes the same time
 * whatever is sent.
 */
export function tokenCheck(
  token: string,
): (headers: IncomingHttpHeaders, keyParameter: string | null) => boolean {
  const expected = digest(token);
  return (headers, keyParameter) => {
    const bearer = /^bearer\s+(\S+)\s*$/iu.exec(headers.authorization ?? "");
    const places = [
      bearer?.[1],
      headers["x-api-key"],
      headers["x-goog-api-key"],
      headers["api-key"],
      keyParameter,
    ];
    return places.reduce(
      (found, place) => timingSafeEqual(digest(textOf(place)), expected) || found,
      false,
    );
  };
}

function textOf(value: string | readonly string[] | null | undefined): string {
  return typeof value === "string" ? value : "";
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
