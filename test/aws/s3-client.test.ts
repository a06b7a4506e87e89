import { createServer, type Server } from "node:http";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { AwsError } from "../../aws/aws-error.ts";
import { containerKeys, type FoundKeys } from "../../aws/container-keys.ts";
import { findKeys } from "../../aws/find-keys.ts";
import { S3Client } from "../../aws/s3-client.ts";

const KEYS = {
  keys: { accessKeyId: "id", secretAccessKey: "secret", sessionToken: null },
  expiresAt: null,
};
let server: Server | null = null;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  vi.unstubAllEnvs();
});

/** A service that gives these answers in turn; an answer of 0 breaks the connection. */
async function serviceOf(answers: readonly (readonly [number, string])[]) {
  let asked = 0;
  server = createServer((request, response) => {
    const [status, body] = answers[asked] ?? [200, "late"];
    asked += 1;
    request.resume();
    if (status === 0) request.socket.destroy();
    else response.writeHead(status).end(body);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const origin = `http://127.0.0.1:${port}`;
  const client = new S3Client({ AWS_ENDPOINT_URL: origin }, async () => KEYS);
  return { client, origin, asked: () => asked };
}

test("tries again after a broken connection, a 5xx and a throttled call", async () => {
  const slow = "<Error><Code>SlowDown</Code><Message>reduce your rate</Message></Error>";
  const throttled = "<Error><Code>Throttling</Code><Message>Rate exceeded</Message></Error>";
  const { client, asked } = await serviceOf([
    [0, ""],
    [503, slow],
    [400, throttled],
    [200, "done"],
  ]);
  const answer = await client.send({
    method: "PUT",
    path: "/b/k",
    body: Buffer.from("bytes"),
  });
  expect(await answer.text()).toBe("done");
  expect(asked()).toBe(4);
});

test("tells a refusal at once, by the service's own name for it", async () => {
  const denied = "<Error><Code>AccessDenied</Code><Message>not yours &amp; mine</Message></Error>";
  const { client, asked } = await serviceOf([[403, denied]]);
  const error = await client
    .send({ method: "GET", path: "/b/k" })
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(AwsError);
  expect(error).toMatchObject({ code: "AccessDenied", status: 403, message: "not yours & mine" });
  expect(asked()).toBe(1);
});

test("ends when its caller has had enough", async () => {
  const { client } = await serviceOf(Array.from({ length: 20 }, () => [500, ""] as const));
  const signal = AbortSignal.timeout(50);
  await expect(client.send({ method: "GET", path: "/b/k", signal })).rejects.toThrow("aborted");
});

/** A client whose keys are these, in turn; null where there are none. */
async function clientWith(answers: readonly (FoundKeys | null)[]) {
  const { origin } = await serviceOf([]);
  let asked = 0;
  const client = new S3Client({ AWS_ENDPOINT_URL: origin }, async () => {
    const found = answers[asked];
    asked += 1;
    if (found === null || found === undefined) throw new Error(`no keys ${asked}`);
    return found;
  });
  const ask = async (): Promise<unknown> => await client.send({ method: "GET", path: "/b/k" });
  return { ask, asked: () => asked };
}

const ending = () => ({ ...KEYS, expiresAt: new Date(Date.now() + 60_000) });

test("asks once for the keys that several requests need, and again after it got none or they end", async () => {
  const { ask, asked } = await clientWith([null, ending(), KEYS]);
  await expect(ask()).rejects.toThrow("no keys");
  await Promise.all([ask(), ask(), ask()]);
  expect(asked()).toBe(3);
});

test("asks again after keys that end had no successor", async () => {
  const { ask, asked } = await clientWith([ending(), null, KEYS]);
  await expect(ask()).rejects.toThrow("no keys 2");
  await ask();
  expect(asked()).toBe(3);
});

test("says how to log in when there are no credentials", async () => {
  vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
  vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere");
  vi.stubEnv("AWS_CONFIG_FILE", "/nowhere");
  await expect(findKeys({})).rejects.toMatchObject({
    kind: "unavailable",
    message: "there are no AWS credentials here",
  });
});

test("logs in as AWS's own tools do: a profile whose program gives keys", async () => {
  const dir = mkdtempSync(join(tmpdir(), "bench-aws-"));
  const keys =
    '{"Version":1,"AccessKeyId":"id","SecretAccessKey":"secret","SessionToken":"token","Expiration":"2099-01-01T00:00:00Z"}';
  writeFileSync(join(dir, "keys"), keys);
  writeFileSync(join(dir, "config"), `[profile team]\ncredential_process = cat ${dir}/keys\n`);
  vi.stubEnv("AWS_CONFIG_FILE", join(dir, "config"));
  vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere");
  expect(await findKeys({ AWS_PROFILE: "team" })).toEqual({
    keys: { accessKeyId: "id", secretAccessKey: "secret", sessionToken: "token" },
    expiresAt: new Date("2099-01-01T00:00:00Z"),
  });
  rmSync(dir, { recursive: true });
});

test("takes no keys from a task's role that lacks one or ends at no time", async () => {
  const whole = { AccessKeyId: "id", SecretAccessKey: "secret", Token: "token" };
  const { SecretAccessKey: _, ...half } = whole;
  const answers = [
    half,
    { ...whole, Token: 5 },
    { ...whole, Expiration: "tomorrow" },
    { ...whole, Expiration: "2026-11-30T12:00:00Z" },
  ];
  const { origin } = await serviceOf(answers.map((answer) => [200, JSON.stringify(answer)]));
  const ask = async () =>
    await containerKeys({ AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: "/keys" }, origin);
  for (let wrong = 0; wrong < 3; wrong += 1)
    await expect(ask()).rejects.toThrow("the task's role gives no keys");
  expect(await ask()).toEqual({
    keys: { accessKeyId: "id", secretAccessKey: "secret", sessionToken: "token" },
    expiresAt: new Date("2026-11-30T12:00:00Z"),
  });
  await expect(containerKeys({})).rejects.toThrow("RELATIVE_URI is not set");
});
