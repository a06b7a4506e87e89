import { type AwsKeys, canonicalQuery, scopeOf, signatureOf, stampOf } from "./aws-signature.ts";

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
  const scope = scopeOf(stamp, region);
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
