import { execFile } from "node:child_process";
import { promisify } from "node:util";
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
 * The identity to act as, in the order of AWS's own programs: keys in the environment, the container's
 * role, then whatever the AWS command line knows (profiles, single sign-on, roles). Throws `BenchError`
 * (`unavailable`) when there is none.
 */
export async function findKeys(env: Env): Promise<FoundKeys> {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  const path = env["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"];
  if (accessKeyId !== undefined && secretAccessKey !== undefined) {
    const sessionToken = env["AWS_SESSION_TOKEN"] ?? null;
    return { keys: { accessKeyId, secretAccessKey, sessionToken }, expiresAt: null };
  }
  if (path !== undefined) return await askContainer(path);
  return await askCommandLine(env);
}

async function askContainer(path: string): Promise<FoundKeys> {
  try {
    const response = await fetch(`${CONTAINER_HOST}${path}`, {
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    return toKeys(await response.json());
  } catch (cause) {
    throw new BenchError("unavailable", `the task's role gives no keys: ${messageOf(cause)}`, {
      next: "run the same command again",
      cause,
    });
  }
}

/** `aws` reads its configuration better than a second reader of it could. */
async function askCommandLine(env: Env): Promise<FoundKeys> {
  const args = ["configure", "export-credentials", "--format", "process"];
  try {
    const { stdout } = await promisify(execFile)("aws", args, { env, timeout: LIMIT_MS });
    return toKeys(JSON.parse(stdout));
  } catch (cause) {
    throw new BenchError("unavailable", "there are no AWS credentials here", {
      next: "log in with `aws configure` or `aws sso login`, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
      cause,
    });
  }
}

/** What the container's credential endpoint and `aws configure export-credentials` both answer. */
function toKeys(answer: unknown): FoundKeys {
  const expiration = textOf(answer, "Expiration");
  return {
    keys: {
      accessKeyId: requiredText(answer, "AccessKeyId"),
      secretAccessKey: requiredText(answer, "SecretAccessKey"),
      sessionToken: textOf(answer, "Token") ?? textOf(answer, "SessionToken"),
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
