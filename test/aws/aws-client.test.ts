import { createServer, type Server } from "node:http";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { AwsClient } from "../../aws/aws-client.ts";
import { AwsError } from "../../aws/aws-error.ts";
import { findKeys } from "../../aws/find-keys.ts";

let server: Server | null = null;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
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
  const client = new AwsClient({
    AWS_ENDPOINT_URL: origin,
    AWS_ACCESS_KEY_ID: "id",
    AWS_SECRET_ACCESS_KEY: "secret",
  });
  return { client, origin, asked: () => asked };
}

test("tries again after a broken connection, a 5xx and a throttled call", async () => {
  const slow = "<Error><Code>SlowDown</Code><Message>reduce your rate</Message></Error>";
  const json = '{"__type":"com.amazonaws#ThrottlingException","message":"Rate exceeded"}';
  const { client, asked } = await serviceOf([
    [0, ""],
    [503, slow],
    [400, json],
    [200, "done"],
  ]);
  const answer = await client.send({
    service: "states",
    method: "POST",
    path: "/",
    body: Buffer.from("{}"),
  });
  expect(await answer.text()).toBe("done");
  expect(asked()).toBe(4);
});

test("tells a refusal at once, by the service's own name for it", async () => {
  const denied = "<Error><Code>AccessDenied</Code><Message>not yours &amp; mine</Message></Error>";
  const { client, asked } = await serviceOf([[403, denied]]);
  const error = await client
    .send({ service: "s3", method: "GET", path: "/b/k" })
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(AwsError);
  expect(error).toMatchObject({ code: "AccessDenied", status: 403, message: "not yours & mine" });
  expect(asked()).toBe(1);
});

test("ends when its caller has had enough", async () => {
  const { client } = await serviceOf(Array.from({ length: 20 }, () => [500, ""] as const));
  const signal = AbortSignal.timeout(50);
  await expect(client.send({ service: "s3", method: "GET", path: "/b/k", signal })).rejects.toThrow(
    "aborted",
  );
});

test("asks once for the keys that several requests need, and again after it got none", async () => {
  const { origin } = await serviceOf([]);
  const dir = mkdtempSync(join(tmpdir(), "bench-aws-"));
  const asked = join(dir, "asked");
  const keys = '{"Version":1,"AccessKeyId":"id","SecretAccessKey":"secret"}';
  const program = `#!/bin/sh\necho . >>${asked}\n[ -e ${dir}/ready ] && echo '${keys}'\n`;
  writeFileSync(join(dir, "aws"), program, { mode: 0o755 });
  const client = new AwsClient({ AWS_ENDPOINT_URL: origin, PATH: dir });
  const ask = async (): Promise<unknown> =>
    await client.send({ service: "s3", method: "GET", path: "/b/k" });
  await expect(ask()).rejects.toThrow("there are no AWS credentials here");
  writeFileSync(join(dir, "ready"), "");
  await Promise.all([ask(), ask(), ask()]);
  expect(readFileSync(asked, "utf8")).toBe(".\n.\n");
  rmSync(dir, { recursive: true });
});

test("says how to log in when there are no credentials", async () => {
  await expect(findKeys({ PATH: "/nowhere" })).rejects.toMatchObject({
    kind: "unavailable",
    message: "there are no AWS credentials here",
  });
});

test("takes no keys from an answer that lacks one or ends at no time", async () => {
  const dir = mkdtempSync(join(tmpdir(), "bench-aws-"));
  const answering = async (answer: Record<string, unknown>) => {
    const program = `#!/bin/sh\necho '${JSON.stringify(answer)}'\n`;
    writeFileSync(join(dir, "aws"), program, { mode: 0o755 });
    return await findKeys({ PATH: dir });
  };
  const whole = { AccessKeyId: "id", SecretAccessKey: "secret", SessionToken: "token" };
  const { SecretAccessKey: _, ...half } = whole;
  for (const wrong of [half, { ...whole, Token: 5 }, { ...whole, Expiration: "tomorrow" }])
    await expect(answering(wrong)).rejects.toThrow("there are no AWS credentials here");
  expect(await answering({ ...whole, Expiration: "2026-11-30T12:00:00+00:00" })).toEqual({
    keys: { accessKeyId: "id", secretAccessKey: "secret", sessionToken: "token" },
    expiresAt: new Date("2026-11-30T12:00:00Z"),
  });
  rmSync(dir, { recursive: true });
});
