import { once } from "node:events";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import type { Sandbox } from "../../../core/ports/sandbox.ts";
import { commandOf, outputOf } from "../../../sandboxes/contract/run-in-sandbox.ts";
import { DockerSandboxes } from "../../../sandboxes/docker/docker-sandboxes.ts";
import { EngineClient } from "../../../sandboxes/docker/engine-client.ts";
import { resolveEndpoint } from "../../../sandboxes/docker/engine-endpoint.ts";
import { guardMessages } from "../../../sandboxes/docker/guard-rules.ts";
import { HelperContainers } from "../../../sandboxes/docker/helper-containers.ts";
import { keeperProgram, keeperRequest } from "../../../sandboxes/docker/helper-program.ts";
import { dockerHost } from "../../setup/docker-host.ts";
import { LIMITS, OWNER, prebuilt } from "./docker-fixture.ts";
import { RawEngine } from "./raw-engine.ts";

const UID = 10_001;
const env = { DOCKER_HOST: dockerHost() };
const raw = new RawEngine(dockerHost());
let backend: DockerSandboxes;
let made: Sandbox[];

beforeAll(async () => {
  backend = await DockerSandboxes.connect({ env });
});

beforeEach(() => {
  made = [];
  onTestFinished(async () => {
    await Promise.all(made.map(async (sandbox) => await sandbox.destroy()));
  });
});

afterAll(async () => {
  await backend.close();
});

test("one container sets the rules of all sandboxes, is no sandbox to anyone, and ends with the backend", async () => {
  const sandboxes = await Promise.all([openSandbox(), openSandbox(), openSandbox()]);
  for (const sandbox of sandboxes) await expectWalls(sandbox);
  const [keeper, ...others] = await keepers();
  expect([keeper?.State, others]).toEqual(["running", []]);
  expect((await backend.list()).map(({ id }) => id)).not.toContain(keeper?.Id);
  // Nothing else was needed: three sandboxes and the keeper are all there is.
  expect(await ownContainers()).toHaveLength(4);
  await backend.close();
  expect(await keepers()).toEqual([]);
  await expectWalls(sandboxes[0]);
  backend = await DockerSandboxes.connect({ env });
});

test("a backend that rests ends its keeper, and makes another when a sandbox is wanted again", async () => {
  const first = await openSandbox();
  await expectWalls(first);
  const [before] = await keepers();
  backend.rest();
  while ((await keepers()).length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  await expectWalls(first);
  await expectWalls(await openSandbox());
  const now = await keepers();
  expect(now).toHaveLength(1);
  expect(now[0]?.Id).not.toBe(before?.Id);
});

test("a keeper that someone removed is made anew, and no sandbox is open in between", async () => {
  await expectWalls(await openSandbox());
  const [first] = await keepers();
  await raw.call("DELETE", `/containers/${first?.Id ?? ""}?force=1`);
  await expectWalls(await openSandbox());
  await expectWalls(await openSandbox());
  const now = await keepers();
  expect(now).toHaveLength(1);
  expect(now[0]?.Id).not.toBe(first?.Id);
});

test("where the keeper does not stay, each sandbox has walls from a helper of its own", async () => {
  const other = await DockerSandboxes.connect({ env });
  onTestFinished(async () => {
    await other.close();
  });
  const others = new Set((await keepers()).map(({ Id }) => Id));
  const ofThis = async () => (await keepers()).filter(({ Id }) => !others.has(Id));
  const seen: number[] = [];
  // Made, found gone, made, found gone, given up.
  for (let round = 0; round < 5; round += 1) {
    await expectWalls(await openSandbox(other));
    const present = await ofThis();
    seen.push(present.length);
    for (const { Id } of present) await raw.call("DELETE", `/containers/${Id}?force=1`);
  }
  expect(seen).toEqual([1, 0, 1, 0, 0]);
  const [sandbox] = made;
  await sandbox?.network("closed");
  await sandbox?.network("public");
  await expectWalls(sandbox);
});

test("its program enters no namespace of the host's own, and ends when it is asked to", async () => {
  const client = await EngineClient.connect(resolveEndpoint({ env }));
  const { platform } = backend.caps;
  const helpers = new HelperContainers(client, { platform, daemonNowMs: Date.now });
  const helper = await helpers.make({
    program: keeperProgram(platform),
    owner: OWNER,
    serves: null,
    network: "host",
    processes: "host",
    uid: 0,
    capabilities: ["NET_ADMIN", "SYS_ADMIN", "SYS_PTRACE"],
  });
  onTestFinished(async () => {
    await helper.remove();
  });
  const socket = await helper.open();
  // The daemon runs on this machine, so this process lives in the namespace that must not be entered.
  socket.write(keeperRequest(process.pid, guardMessages({ closed: [], nameServers: [] })));
  socket.resume();
  await once(socket, "close");
  const ended = (await raw.call("GET", `/containers/${helper.id}/json`)) as {
    State: { ExitCode: number };
  };
  expect(ended.State.ExitCode).toBe(1);
});

async function openSandbox(from: DockerSandboxes = backend): Promise<Sandbox> {
  const sandbox = await from.create({
    image: await prebuilt(from, "bench-base:debian"),
    owner: OWNER,
    limits: LIMITS,
    network: "public",
    env: {},
    signal: new AbortController().signal,
  });
  made.push(sandbox);
  return sandbox;
}

async function expectWalls(sandbox: Sandbox | undefined): Promise<void> {
  if (sandbox === undefined) throw new Error("no sandbox");
  const routes = async (address: string): Promise<boolean> => {
    const program = `import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("${address}", 9))`;
    const done = await sandbox.exec(commandOf(["python3", "-c", program], { uid: UID }));
    return done.exitCode === 0;
  };
  expect(await outputOf(sandbox, "cut -d: -f1 -s /proc/net/dev | tr -d ' '")).toContain("eth");
  expect(await routes("8.8.8.8")).toBe(true);
  for (const closed of ["10.1.2.3", "169.254.169.254", "192.168.1.1", "172.17.0.1"])
    expect(await routes(closed), closed).toBe(false);
}

interface Listed {
  readonly Id: string;
  readonly State: string;
}

async function keepers(): Promise<readonly Listed[]> {
  return await listed(["benchflow.serves=the run", `benchflow.run=${OWNER.runId}`]);
}

async function ownContainers(): Promise<readonly Listed[]> {
  return await listed([`benchflow.run=${OWNER.runId}`]);
}

async function listed(label: readonly string[]): Promise<readonly Listed[]> {
  const filters = encodeURIComponent(JSON.stringify({ label }));
  return (await raw.list(`/containers/json?all=1&filters=${filters}`)) as Listed[];
}
