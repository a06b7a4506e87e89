import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Sandbox } from "../../../core/ports/sandbox.ts";
import {
  commandOf,
  isRunning,
  outputOf,
  perl,
  shell,
  text,
  untilRunning,
} from "../../../sandboxes/contract/run-in-sandbox.ts";
import { DockerSandboxes } from "../../../sandboxes/docker/docker-sandboxes.ts";
import { dockerHost } from "../../setup/docker-host.ts";
import { LIMITS, openDocker, type OpenDocker, OWNER } from "./docker-fixture.ts";

const UID = 10_001;
let docker: OpenDocker;

beforeAll(async () => {
  docker = await openDocker("bench-base:debian");
});

afterEach(async () => {
  await docker.endCheck();
});

afterAll(async () => {
  await docker.close();
});

test("a container that someone else removes is lost at once, to every call", async () => {
  const sandbox = await docker.fixture.makeSandbox();
  const running = [
    sandbox.exec(shell("sleep 60")),
    sandbox.exec(shell("sleep 60", { uid: UID })),
    (await sandbox.spawn(shell("sleep 60"))).exitCode,
  ].map((call) => call.then(String, (error: { failure?: string }) => error.failure));
  await untilRunning(sandbox, "sleep 60");
  const started = performance.now();
  await docker.raw.call("DELETE", `/containers/${sandbox.id}?force=1`);
  expect(await Promise.all(running)).toEqual(["lost", "lost", "lost"]);
  expect(performance.now() - started).toBeLessThan(10_000);
  await expect(sandbox.exec(shell("true"))).rejects.toMatchObject({ failure: "lost" });
  await expect(sandbox.stats()).rejects.toMatchObject({ failure: "lost" });
  await sandbox.destroy();
});

test("a container is never started again: what dies is lost (C-43)", async () => {
  const sandbox = await docker.fixture.makeSandbox();
  const running = sandbox.exec(shell("sleep 60", { uid: UID })).then(
    () => "ended",
    (error: { failure?: string }) => error.failure,
  );
  await untilRunning(sandbox, "sleep 60");
  await docker.raw.call("POST", `/containers/${sandbox.id}/kill`);
  expect(await running).toBe("lost");
  const inspected = await docker.raw.call("GET", `/containers/${sandbox.id}/json`);
  expect(inspected).toMatchObject({ State: { Running: false }, RestartCount: 0 });
});

test("a killed driver leaves no running process, and its sandbox is found and removed", async () => {
  const script = fileURLToPath(new URL("make-and-wait.ts", import.meta.url));
  const driver = spawn(process.execPath, ["--import", "tsx", script], {
    env: { ...process.env, DOCKER_HOST: dockerHost() },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [printed] = (await once(driver.stdout, "data")) as [Buffer];
  const id = printed.toString("utf8").trim();
  const recordOf = async () => (await docker.backend.list()).find((record) => record.id === id);
  expect((await recordOf())?.ownerState).toBe("alive");
  driver.kill("SIGKILL");
  await once(driver, "exit");
  await expect
    .poll(async () => await docker.raw.call("GET", `/containers/${id}/json`), { timeout: 20_000 })
    .toMatchObject({ State: { Running: false } });
  const record = await recordOf();
  expect(record?.ownerState).toBe("dead");
  expect(record?.owner?.rolloutName).toBe("killed__00000000");
  await docker.backend.remove(id);
  expect(await docker.fixture.leftovers(id)).toEqual([]);
});

test("a container that is not ours is neither listed nor removed", async () => {
  const body = { Image: "bench-base:debian", Cmd: ["sleep", "60"] };
  const { Id } = (await docker.raw.call("POST", "/containers/create", body)) as { Id: string };
  try {
    const listed = await docker.backend.list();
    expect(listed.map(({ id }) => id)).not.toContain(Id);
    await expect(docker.backend.remove(Id)).rejects.toMatchObject({ failure: "not-found" });
    await expect(docker.backend.remove("bench-base")).resolves.toBeUndefined();
    expect(await docker.raw.call("GET", `/containers/${Id}/json`)).toMatchObject({ Id });
  } finally {
    await docker.raw.call("DELETE", `/containers/${Id}?force=1`);
  }
});

test("root that kills everything inside does not end the sandbox, nor hide its own end", async () => {
  const sandbox = await docker.fixture.makeSandbox();
  const done = await sandbox.exec(shell("kill -9 -1; sleep 0.5; echo survived; exit 0"));
  expect(text(done.stdout)).toBe("survived\n");
  expect(done.exitCode).toBe(137);
  expect(await outputOf(sandbox, "echo up")).toBe("up");
  expect(await sandbox.killUser(UID)).toBe(0);
  const late = await sandbox.exec(
    shell("kill -9 -1; while :; do sleep 311.5; done", { timeoutMs: 1500 }),
  );
  expect(late.timedOut).toBe(true);
  expect(await isRunning(sandbox, "sleep 311.5")).toBe(false);
});

test("output of a daemon that an earlier command left is not taken for a later one's", async () => {
  const sandbox = await docker.fixture.makeSandbox();
  await outputOf(sandbox, "(while :; do echo noise; echo noise >&2; sleep 0.01; done) & sleep 0.1");
  for (let round = 0; round < 5; round += 1) {
    const done = await sandbox.exec(shell("sleep 0.05; echo mine"));
    expect(text(done.stdout)).toBe("mine\n");
    expect(text(done.stderr)).toBe("");
  }
  expect((await sandbox.mark()).processes.length).toBeGreaterThan(0);
});

test("processes that fork on for ever are ended although others live beside them", async () => {
  const sandbox = await docker.fixture.makeSandbox({ limits: { ...LIMITS, pids: 200 } });
  await outputOf(sandbox, "setsid sleep 312.5 >/dev/null 2>&1 &");
  // Each generation lives for microseconds: it forks a child and ends.
  const comet = commandOf(perl("$SIG{CHLD} = 'IGNORE'; while (1) { fork and exit }"), { uid: UID });
  const tails = await Promise.all([sandbox.spawn(comet), sandbox.spawn(comet)]);
  await new Promise((resolve) => {
    setTimeout(resolve, 300);
  });
  expect(await sandbox.killUser(UID)).toBe(0);
  await Promise.all(tails.map((tail) => tail.exitCode));
  expect(await outputOf(sandbox, `ps -o pid= -U ${String(UID)} | wc -l`)).toBe("0");
  expect(await isRunning(sandbox, "sleep 312.5")).toBe(true);
  expect(await outputOf(sandbox, "for n in 1 2 3; do (echo $n) & wait; done")).toBe("1\n2\n3");
});

test("a process whose first thread has ended counts as alive, and is ended", async () => {
  const sandbox = await docker.fixture.makeSandbox();
  const program =
    "import ctypes, threading, time\nthreading.Thread(target=time.sleep, args=(313.5,)).start()\nctypes.CDLL(None).pthread_exit(None)\n";
  const process = await sandbox.spawn(commandOf(["python3", "-c", program], { uid: UID }));
  const threads = `grep -l 'State:.Z' /proc/[0-9]*/task/*/status 2>/dev/null | wc -l`;
  await expect.poll(async () => await outputOf(sandbox, threads)).toBe("1");
  expect(await sandbox.killUser(UID)).toBe(0);
  expect(await process.exitCode).toBe(137);
  expect(await outputOf(sandbox, `ps -o pid= -U ${String(UID)} | wc -l`)).toBe("0");
});

test("the network comes and goes as phases ask, and each time the private ranges are closed", async () => {
  const [sandbox, neighbour] = await Promise.all([
    docker.fixture.makeSandbox(),
    docker.fixture.makeSandbox({ network: "public" }),
  ]);
  const address = await addressOf(neighbour);
  const server = await neighbour.spawn(
    shell(`exec python3 -m http.server --bind ${address} 8123 2>&1`, { uid: UID }),
  );
  await expect.poll(async () => await reach(neighbour, `${address}/8123`)).toBe("reached");
  for (let round = 0; round < 2; round += 1) {
    await sandbox.network("public");
    expect(await routes(sandbox, "8.8.8.8")).toBe(true);
    for (const closed of [address, "172.31.250.1", "10.1.2.3", "169.254.169.254", "192.168.1.1"])
      expect(await routes(sandbox, closed), closed).toBe(false);
    expect(await reach(sandbox, `${address}/8123`)).toBe("closed");
    expect(await sandbox.killUser(UID)).toBe(0);
    await sandbox.network("closed");
    expect(await routes(sandbox, "8.8.8.8")).toBe(false);
    expect(await outputOf(sandbox, "cut -d: -f1 -s /proc/net/dev | tr -d ' '")).toBe("lo");
  }
  await server.kill();
});

test("a lease is moved where everyone can see it, and ends by the daemon's clock", async () => {
  const sandbox = await docker.fixture.makeSandbox();
  await sandbox.renew(3_600_000);
  const other = await DockerSandboxes.connect({ env: { DOCKER_HOST: dockerHost() } });
  const record = (await other.list()).find(({ id }) => id === sandbox.id);
  const leftMs = Date.parse(record?.expiresAt ?? "") - Date.now();
  expect(Math.abs(leftMs - 3_600_000)).toBeLessThan(5000);
  expect(record?.owner).toEqual(OWNER);
});

test("files of a busy sandbox are read while it stands still, and it goes on afterwards", async () => {
  const sandbox = await docker.fixture.makeSandbox();
  await outputOf(sandbox, "mkdir /many && cd /many && head -c 3000000 /dev/zero > a && cp a b");
  const ticker = await sandbox.spawn(shell("while :; do echo tick; sleep 0.05; done"));
  const ticks = ticker.stdout[Symbol.asyncIterator]();
  await ticks.next();
  // The listing: an inspection would wait for the archive, and the archive here for the inspection.
  const state = async () => (await docker.raw.list("/containers/json")).find(isSandbox);
  const isSandbox = (each: unknown): boolean => (each as { Id: string }).Id === sandbox.id;
  let sizeBytes = 0;
  let meanwhile: unknown = null;
  for await (const chunk of sandbox.get("/many")) {
    meanwhile ??= await state();
    sizeBytes += chunk.byteLength;
  }
  expect(meanwhile).toMatchObject({ State: "paused" });
  expect(await state()).toMatchObject({ State: "running" });
  expect(sizeBytes).toBeGreaterThan(6_000_000);
  expect(await outputOf(sandbox, "echo on")).toBe("on");
  await ticks.next();
  const reading = sandbox.get("/many")[Symbol.asyncIterator]();
  await reading.next();
  // Nobody reads on: the sandbox stands still, and can be removed all the same.
  await sandbox.destroy();
  expect(await docker.fixture.leftovers(sandbox.id)).toEqual([]);
});

test("an image without a shell is refused with the reason", async () => {
  const { Id } = (await docker.raw.call("POST", "/containers/create", {
    Image: "bench-base:busybox",
    Cmd: ["/bin/busybox", "rm", "/bin/sh"],
  })) as { Id: string };
  await docker.raw.call("POST", `/containers/${Id}/start`);
  await docker.raw.call("POST", `/containers/${Id}/wait`);
  const image = (await docker.raw.call("POST", `/commit?container=${Id}`)) as { Id: string };
  await docker.raw.call("DELETE", `/containers/${Id}`);
  try {
    const shell_less = { ...docker.fixture.image, id: image.Id };
    await expect(
      docker.backend.create({
        image: shell_less,
        owner: OWNER,
        limits: LIMITS,
        network: "closed",
        env: {},
        signal: new AbortController().signal,
      }),
    ).rejects.toMatchObject({
      failure: "start-failed",
      message: expect.stringContaining("has no /bin/sh"),
    });
    await docker.backend.close();
    expect(await docker.allLeftovers()).toEqual([]);
  } finally {
    await docker.raw.call("DELETE", `/images/${image.Id}`);
  }
});

/** Whether the kernel of the sandbox has a way to an address; sends nothing. */
async function routes(sandbox: Sandbox, address: string): Promise<boolean> {
  const program = `import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("${address}", 9))`;
  const done = await sandbox.exec(commandOf(["python3", "-c", program], { uid: UID }));
  return done.exitCode === 0;
}

async function reach(sandbox: Sandbox, target: string): Promise<string> {
  const script = `timeout 3 bash -c 'exec 3<>/dev/tcp/${target}' 2>/dev/null && echo reached || echo closed`;
  return await outputOf(sandbox, script, { uid: UID });
}

async function addressOf(sandbox: Sandbox): Promise<string> {
  const inspected = (await docker.raw.call("GET", `/containers/${sandbox.id}/json`)) as {
    NetworkSettings: { Networks: Record<string, { IPAddress: string }> };
  };
  return inspected.NetworkSettings.Networks["bridge"]?.IPAddress ?? "none";
}
