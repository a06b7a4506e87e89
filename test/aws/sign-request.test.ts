import { expect, test } from "vitest";
import { escapeUri } from "../../aws/escape-uri.ts";
import { signLink } from "../../aws/sign-link.ts";
import { signRequest } from "../../aws/sign-request.ts";
import { sha256Hex } from "../../host/sha256-hex.ts";

const keys = {
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  sessionToken: null,
};
const common = { region: "us-east-1", keys, now: new Date("2013-05-24T00:00:00Z") };
const signatureOf = (headers: Record<string, string>): string =>
  /Signature=([0-9a-f]{64})$/u.exec(headers["authorization"] ?? "")?.[1] ?? "";

// The three worked examples of "Authenticating Requests: Using the Authorization Header", Amazon S3 API reference.
test("signs a read of a part of an object as AWS's own example does", () => {
  const signed = signRequest({
    ...common,
    method: "GET",
    url: new URL("https://examplebucket.s3.amazonaws.com/test.txt"),
    headers: { range: "bytes=0-9" },
    bodySha256: sha256Hex(""),
  });
  expect(signatureOf(signed)).toBe(
    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  );
});

test("signs a write of an object as AWS's own example does", () => {
  const signed = signRequest({
    ...common,
    method: "PUT",
    url: new URL("https://examplebucket.s3.amazonaws.com/test%24file.text"),
    headers: {
      date: "Fri, 24 May 2013 00:00:00 GMT",
      "x-amz-storage-class": "REDUCED_REDUNDANCY",
    },
    bodySha256: sha256Hex("Welcome to Amazon S3."),
  });
  expect(signatureOf(signed)).toBe(
    "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
  );
});

test("signs a list of objects as AWS's own example does", () => {
  const signed = signRequest({
    ...common,
    method: "GET",
    url: new URL("https://examplebucket.s3.amazonaws.com/?prefix=J&max-keys=2"),
    headers: {},
    bodySha256: sha256Hex(""),
  });
  expect(signatureOf(signed)).toBe(
    "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  );
});

// "Authenticating Requests: Using Query Parameters", Amazon S3 API reference.
test("signs a link to an object as AWS's own example does", () => {
  const url = new URL("https://examplebucket.s3.amazonaws.com/test.txt");
  const { region, now } = common;
  const link = signLink({ method: "GET", url, region, now, keys, expiresSec: 86_400 });
  expect(link.searchParams.get("X-Amz-Signature")).toBe(
    "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404",
  );
});

test("sends a session token signed, and never the secret", () => {
  const signed = signRequest({
    ...common,
    keys: { ...keys, sessionToken: "token" },
    method: "GET",
    url: new URL("https://s3.us-east-1.amazonaws.com/bucket/key"),
    headers: {},
    bodySha256: sha256Hex(""),
  });
  expect(signed["x-amz-security-token"]).toBe("token");
  expect(signed["authorization"]).toContain("x-amz-security-token");
  expect(JSON.stringify(signed)).not.toContain(keys.secretAccessKey);
});

test("escapes what a key may hold and a URL may not", () => {
  expect(escapeUri("a b+c(d)'*!ü")).toBe("a%20b%2Bc%28d%29%27%2A%21%C3%BC");
});
