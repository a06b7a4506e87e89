import { type AwsKeys, canonicalQuery, scopeOf, signatureOf, stampOf } from "./aws-signature.ts";

export interface SignRequest {
  readonly method: string;
  readonly url: URL;
  /** Lower-case names; `host` is added. */
  readonly headers: Readonly<Record<string, string>>;
  /** sha256 of the body as hex. */
  readonly bodySha256: string;
  readonly region: string;
  readonly keys: AwsKeys;
  readonly now: Date;
}

/**
 * The headers that make a request to S3 an authenticated one: AWS Signature Version 4 over every header given,
 * the body's hash among them, so that what arrives is what was sent.
 */
export function signRequest(request: SignRequest): Record<string, string> {
  const { url, headers, keys, region } = request;
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
    // S3 alone signs the path as it is sent.
    url.pathname,
    canonicalQuery(url),
    ...names.map((name) => `${name}:${(signed[name] ?? "").trim().replaceAll(/ +/gu, " ")}`),
    "",
    names.join(";"),
    request.bodySha256,
  ].join("\n");
  const scope = scopeOf(stamp, region);
  const signature = signatureOf(canonical, { stamp, scope, secret: keys.secretAccessKey });
  const credential = `Credential=${keys.accessKeyId}/${scope}`;
  const { host: _, ...sent } = signed;
  return {
    ...sent,
    authorization: `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${names.join(";")}, Signature=${signature}`,
  };
}
