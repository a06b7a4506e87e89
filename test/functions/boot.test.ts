import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { boot } from "../../functions/boot/boot.ts";
import { sha256Hex } from "../../host/sha256-hex.ts";

let dir = "";
let server: Server;
let paths: string[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "bench-boot-"));
  paths = [];
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
  rmSync(dir, { recursive: true });
});

/** A bucket that gives these answers in turn, and the environment that reaches it. */
async function bucketOf(answers: readonly (readonly [number, string])[]) {
  server = createServer((request, response) => {
    const [status, body] = answers[paths.length] ?? [500, "asked too often"];
    paths.push(request.url ?? "");
    response.writeHead(status).end(body);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    AWS_ACCESS_KEY_ID: "id",
    AWS_SECRET_ACCESS_KEY: "secret",
  };
}

test("fetches the programs by their hashes, also from a bucket that is slow, and starts the task's", async () => {
  const kit = join(dir, "kit");
  const task = `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(join(dir, "started"))}, "");`;
  const env = await bucketOf([
    [503, "<Error><Code>SlowDown</Code></Error>"],
    [200, task],
    [200, "execd"],
  ]);
  await boot(env, ["runs", kit, `task=${sha256Hex(task)}`, `execd=${sha256Hex("execd")}`]);
  const taskPath = `/runs/kit/${sha256Hex(task)}.mjs`;
  expect(paths).toEqual([taskPath, taskPath, `/runs/kit/${sha256Hex("execd")}.mjs`]);
  expect(readFileSync(join(kit, "execd.mjs"), "utf8")).toBe("execd");
  expect(existsSync(join(dir, "started"))).toBe(true);
});

test("writes and starts nothing that has other bytes than the definition says", async () => {
  const env = await bucketOf([[200, "other"]]);
  const kit = join(dir, "kit");
  await expect(boot(env, ["runs", kit, `task=${sha256Hex("task")}`])).rejects.toThrow(
    `has sha256 ${sha256Hex("other")}`,
  );
  expect(existsSync(join(kit, "task.mjs"))).toBe(false);
});

test("asks for nothing without keys, and says so", async () => {
  const { AWS_ENDPOINT_URL } = await bucketOf([]);
  const env = { AWS_ENDPOINT_URL };
  await expect(boot(env, ["runs", dir, `task=${sha256Hex("")}`])).rejects.toThrow(
    "the task's role gives no keys",
  );
  expect(paths).toEqual([]);
});

test("refuses arguments that name no bucket, no folder or no hash", async () => {
  const env = await bucketOf([]);
  await expect(boot(env, ["runs"])).rejects.toThrow("BUCKET DIR");
  await expect(boot(env, ["runs", dir, "task"])).rejects.toThrow("task is no NAME=SHA256");
});
