import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { claudeLogin } from "../../../core/logins/claude-login.ts";
import type { Login } from "../../../core/logins/login.ts";
import { identifyProcess } from "../../../host/process-identity.ts";
import { LoginFile } from "../../../stores/logins/login-file.ts";

let dir: string;
let path: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "bench-login-"));
  path = join(dir, ".credentials.json");
});
afterEach(async () => {
  await rm(dir, { recursive: true });
});

async function write(refreshToken: string): Promise<void> {
  const claudeAiOauth = {
    accessToken: `a-${refreshToken}`,
    refreshToken,
    expiresAt: 1,
    scopes: [],
  };
  await writeFile(path, JSON.stringify({ claudeAiOauth, other: 1 }), { mode: 0o600 });
}

const store = () => new LoginFile(path, claudeLogin);
const next: Login = {
  accessToken: "a2",
  refreshToken: "r2",
  expiresAt: new Date(2),
  accountId: null,
  scopes: [],
};

async function standing(): Promise<Login> {
  const login = await store().read();
  if (login === null) throw new Error("no login");
  return login;
}

test("new tokens go in the place of the old, for their owner alone, and nothing else is left", async () => {
  await write("r1");
  await chmod(path, 0o644);
  expect(await store().replace(await standing(), next)).toBe(true);
  expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({
    claudeAiOauth: { accessToken: "a2", refreshToken: "r2", expiresAt: 2 },
    other: 1,
  });
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(dir)).toEqual([".credentials.json"]);
});

test("tokens that another program put there meanwhile stand", async () => {
  await write("r1");
  const before = await standing();
  await write("newer");
  expect(await store().replace(before, next)).toBe(false);
  expect((await standing()).refreshToken).toBe("newer");
});

test("a login behind a link is written where it lies", async () => {
  await write("r1");
  const real = join(dir, "real.json");
  await writeFile(real, await readFile(path));
  await rm(path);
  await symlink(real, path);
  expect(await store().replace(await standing(), next)).toBe(true);
  expect(await readFile(real, "utf8")).toContain('"r2"');
  expect(await readdir(dir)).toEqual([".credentials.json", "real.json"]);
});

test("a file that is too large for a login is told, behind a link too", async () => {
  const real = join(dir, "real.json");
  await writeFile(real, " ".repeat(1024 * 1024 + 1));
  await symlink(real, path);
  await expect(store().read()).rejects.toThrow("is larger than 1048576 bytes");
});

test("no login is none, and a damaged file is told without a part of it", async () => {
  expect(await store().read()).toBeNull();
  await writeFile(path, '{"claudeAiOauth":{"accessToken":"sk-ant-oat01-secret",');
  await expect(store().read()).rejects.toMatchObject({ kind: "config", cause: undefined });
  await expect(store().read()).rejects.not.toThrow(/secret/u);
});

/** A lock whose holder was killed. */
async function plantDeadLock(): Promise<void> {
  const child = spawn("sleep", ["60"]);
  const { pid } = child;
  if (pid === undefined) throw new Error("sleep did not start");
  const owner = identifyProcess(pid);
  child.kill("SIGKILL");
  await once(child, "exit");
  const lock = `${path}.bench-lock`;
  await mkdir(lock);
  const holder = { pid, host: hostname(), started_at: "2026-11-04T18:24:21Z", owner };
  const name = `0123456789abcdef0123456789abcdef.${String(Date.now() + 3_600_000)}`;
  await writeFile(join(lock, name), JSON.stringify(holder));
}

test("two of ours work one after the other, and the lock of a dead one keeps nobody", async () => {
  await plantDeadLock();
  const order: string[] = [];
  const work = (name: string) => async () => {
    order.push(`${name} begins`);
    await new Promise((resolve) => setTimeout(resolve, 30));
    order.push(`${name} ends`);
  };
  await Promise.all([store().alone(work("one")), store().alone(work("two"))]);
  expect(order.map((each) => each.split(" ")[1])).toEqual(["begins", "ends", "begins", "ends"]);
  expect(await readdir(dir)).toEqual([]);
});
