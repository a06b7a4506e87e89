import { createHmac } from "node:crypto";
import { sha256Hex } from "../host/sha256-hex.ts";
import { escapeUri } from "./escape-uri.ts";

/** Keys of an AWS identity; temporary ones have a session token and an end. */
export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | null;
}

/** The time as a signature names it. */
export function stampOf(now: Date): string {
  return now.toISOString().replaceAll(/[-:]|\.\d{3}/gu, "");
}

/** What a signature holds for: S3 in a region, on a day. */
export function scopeOf(stamp: string, region: string): string {
  return `${stamp.slice(0, 8)}/${region}/s3/aws4_request`;
}

export interface SigningFacts {
  readonly stamp: string;
  readonly scope: string;
  readonly secret: string;
}

/** The signature of a canonical request as hex (IAM User Guide, "Create a signed AWS API request"). */
export function signatureOf(canonical: string, { stamp, scope, secret }: SigningFacts): string {
  const toSign = ["AWS4-HMAC-SHA256", stamp, scope, sha256Hex(canonical)].join("\n");
  const key = scope
    .split("/")
    .reduce<Buffer | string>((parent, part) => hmac(parent, part), `AWS4${secret}`);
  return createHmac("sha256", key).update(toSign).digest("hex");
}

/** In the order of the escaped names, then values. */
export function canonicalQuery(url: URL): string {
  const pairs = [...url.searchParams].map(([name, value]) => ({
    name: escapeUri(name),
    value: escapeUri(value),
  }));
  return pairs
    .toSorted((a, b) => compareAscii(a.name, b.name) || compareAscii(a.value, b.value))
    .map(({ name, value }) => `${name}=${value}`)
    .join("&");
}

function compareAscii(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
