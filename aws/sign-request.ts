import { createHash, createHmac } from "node:crypto";

/** Keys of an AWS identity; temporary ones have a session token and an end. */
export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | null;
}

export interface SignRequest {
  readonly method: string;
  readonly url: URL;
  /** Lower-case names; `host` is added. */
  readonly headers: Readonly<Record<string, string>>;
  /** sha256 of the body as hex. */
  readonly bodySha256: string;
  readonly service: string;
  readonly region: string;
  readonly keys: AwsKeys;
  readonly now: Date;
}

/**
 * The headers that make a request an authenticated one: AWS Signature Version 4 over every header given,
 * the body's hash among them, so that what arrives is what was sent.
 */
export function signRequest(request: SignRequest): Record<string, string> {
  const { url, headers, keys, region, service } = request;
  const stamp = stampOf(request.now);
  const signed: Record<string, string> = {
    ...headers,
    host: url.host,
    "x-amz-date": stamp,
    "x-amz-content-sha256": request.bodySha256,
    ...(keys.sessionToken === null ? {} : { "x-amz-security-token": keys.sessionToken }),
  };
  const names = Object.keys(signed).toSorted();
  const canonical = [
    request.method,
    // S3 signs the path as it is sent; our other services have no path but `/`.
    url.pathname,
    canonicalQuery(url),
    ...names.map((name) => `${name}:${(signed[name] ?? "").trim().replaceAll(/ +/gu, " ")}`),
    "",
    names.join(";"),
    request.bodySha256,
  ].join("\n");
  const scope = scopeOf(stamp, region, service);
  const signature = signatureOf(canonical, { stamp, scope, secret: keys.secretAccessKey });
  const credential = `Credential=${keys.accessKeyId}/${scope}`;
  const { host: _, ...sent } = signed;
  return {
    ...sent,
    authorization: `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${names.join(";")}, Signature=${signature}`,
  };
}

export interface SignedLink {
  readonly method: "GET" | "PUT";
  readonly url: URL;
  readonly region: string;
  readonly keys: AwsKeys;
  readonly now: Date;
  readonly expiresSec: number;
}

/** An address that reads or writes one object of S3 for a while, without keys: whoever has it may. */
export function signLink({ method, url, region, keys, now, expiresSec }: SignedLink): URL {
  const stamp = stampOf(now);
  const scope = scopeOf(stamp, region, "s3");
  const signed = new URL(url);
  const query = {
    "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
    "X-Amz-Credential": `${keys.accessKeyId}/${scope}`,
    "X-Amz-Date": stamp,
    "X-Amz-Expires": String(expiresSec),
    ...(keys.sessionToken === null ? {} : { "X-Amz-Security-Token": keys.sessionToken }),
    "X-Amz-SignedHeaders": "host",
  };
  for (const [name, value] of Object.entries(query)) signed.searchParams.set(name, value);
  const canonical = [
    method,
    signed.pathname,
    canonicalQuery(signed),
    `host:${signed.host}`,
    "",
    "host",
    "UNSIGNED-PAYLOAD",
  ].join("\n");
  const signature = signatureOf(canonical, { stamp, scope, secret: keys.secretAccessKey });
  signed.search = `?${canonicalQuery(signed)}&X-Amz-Signature=${signature}`;
  return signed;
}

function stampOf(now: Date): string {
  return now.toISOString().replaceAll(/[-:]|\.\d{3}/gu, "");
}

function scopeOf(stamp: string, region: string, service: string): string {
  return `${stamp.slice(0, 8)}/${region}/${service}/aws4_request`;
}

interface SigningFacts {
  readonly stamp: string;
  readonly scope: string;
  readonly secret: string;
}

function signatureOf(canonical: string, { stamp, scope, secret }: SigningFacts): string {
  const toSign = ["AWS4-HMAC-SHA256", stamp, scope, sha256Hex(canonical)].join("\n");
  const key = scope
    .split("/")
    .reduce<Buffer | string>((parent, part) => hmac(parent, part), `AWS4${secret}`);
  return createHmac("sha256", key).update(toSign).digest("hex");
}

export function sha256Hex(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** RFC 3986: everything but letters, digits and `-_.~` is escaped. */
export function escapeUri(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/gu, (character) => {
    return `%${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}`;
  });
}

/** In the order of the escaped names, then values. */
function canonicalQuery(url: URL): string {
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
