import { BenchError, messageOf } from "../core/errors.ts";
import type { AwsKeys } from "./aws-signature.ts";
import { jsonField } from "./json-field.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Keys as they were found, and until when they hold; null for ones that do not end. */
export interface FoundKeys {
  readonly keys: AwsKeys;
  readonly expiresAt: Date | null;
}

const CONTAINER_HOST = "http://169.254.170.2";
const LIMIT_MS = 20_000;
/** RFC 3339, with its offset. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/u;

/**
 * The identity of a program in the cloud: keys in the environment (a function has them there), then the
 * task's role. Throws `BenchError` (`unavailable`) when neither is there.
 */
export async function containerKeys(env: Env, host: string = CONTAINER_HOST): Promise<FoundKeys> {
  const path = env["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"];
  const found = environmentKeys(env);
  if (found !== null) return found;
  try {
    if (path === undefined) throw new Error("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI is not set");
    const response = await fetch(`${host}${path}`, { signal: AbortSignal.timeout(LIMIT_MS) });
    return toKeys(await response.json());
  } catch (cause) {
    throw new BenchError("unavailable", `the task's role gives no keys: ${messageOf(cause)}`, {
      next: "run the same command again",
      cause,
    });
  }
}

/** Keys that someone set; they do not end, as far as anybody can tell. */
export function environmentKeys(env: Env): FoundKeys | null {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (accessKeyId === undefined || secretAccessKey === undefined) return null;
  const sessionToken = env["AWS_SESSION_TOKEN"] ?? null;
  return { keys: { accessKeyId, secretAccessKey, sessionToken }, expiresAt: null };
}

/** The answer of the container's credential endpoint. */
function toKeys(answer: unknown): FoundKeys {
  const expiration = textOf(answer, "Expiration");
  return {
    keys: {
      accessKeyId: requiredText(answer, "AccessKeyId"),
      secretAccessKey: requiredText(answer, "SecretAccessKey"),
      sessionToken: textOf(answer, "Token"),
    },
    expiresAt: expiration === null ? null : toDate(expiration),
  };
}

function textOf(answer: unknown, name: string): string | null {
  const value = jsonField(answer, name);
  if (value === undefined) return null;
  if (typeof value === "string") return value;
  throw new Error(`the answer's ${name} is no text`);
}

function requiredText(answer: unknown, name: string): string {
  const value = textOf(answer, name);
  if (value !== null) return value;
  throw new Error(`the answer has no ${name}`);
}

function toDate(text: string): Date {
  const date = new Date(text);
  if (TIME.test(text) && !Number.isNaN(date.getTime())) return date;
  throw new Error(`the answer's Expiration is no time: ${text.slice(0, 100)}`);
}
