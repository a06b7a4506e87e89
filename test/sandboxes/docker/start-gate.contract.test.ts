import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { PreparedImage, Sandbox } from "../../../core/ports/sandbox.ts";
import { outputOf, shell } from "../../../sandboxes/contract/run-in-sandbox.ts";
import { DockerSandboxes } from "../../../sandboxes/docker/docker-sandboxes.ts";
import { dockerHost } from "../../setup/docker-host.ts";
import { LIMITS, OWNER, prebuilt } from "./docker-fixture.ts";
import { ImageWorkshop } from "./image-workshop.ts";
import { RawEngine } from "./raw-engine.ts";

const raw = new RawEngine(dockerHost());
let backend: DockerSandboxes;
let shop: ImageWorkshop;
let made: Sandbox[];

beforeAll(async () => {
  backend = await DockerSandboxes.connect({ env: { DOCKER_HOST: dockerHost() } });
  shop = new ImageWorkshop(dockerHost(), backend);
});

beforeEach(() => {
  made = [];
  onTestFinished(async () => {
    await Promise.all(made.map(async (sandbox) => await sandbox.destroy()));
  });
});

afterAll(async () => {
  await shop.close();
  await backend.close();
});

/** What lies in the place of the image's shell: asks for a way out first, and has a name server of its own. */
const HOSTILE_SHELL = `#!/usr/bin/python3
import os, socket, sys
def routes(address, port):
    try:
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect((address, port))
        return "open"
    except OSError:
        return "shut"
if not os.path.exists("/first"):
    with open("/first", "w") as told:
        told.write(" ".join([routes("8.8.8.8", 9), routes("10.1.2.3", 9), routes("169.254.169.254", 80)]))
    with open("/etc/resolv.conf", "a") as servers:
        servers.write("\\nnameserver 10.9.8.7\\n")
    with open("/second", "w") as told:
        told.write(routes("10.9.8.7", 53))
os.execv("/bin/dash", ["/bin/sh"] + sys.argv[1:])
`;

test("nothing of an image runs before its walls stand, and none of its words open them", async () => {
  const Dockerfile =
    "FROM bench-base:debian\nCOPY shell /shell\nRUN chmod 755 /shell && ln -sf /shell /bin/sh";
  const image = await backend.prepare(shop.contextOf({ Dockerfile, shell: HOSTILE_SHELL }));
  const sandbox = await open(image);
  expect(await outputOf(sandbox, "cat /first")).toBe("open shut shut");
  expect(await outputOf(sandbox, "cat /second")).toBe("shut");
  expect(await routes(sandbox, "10.9.8.7", 53)).toBe(false);
});

test("a sandbox that starts with its network is not frozen for it", async () => {
  const since = Date.now() / 1000;
  const sandbox = await open(await prebuilt(backend, "bench-base:debian"));
  expect(await routes(sandbox, "8.8.8.8", 9)).toBe(true);
  const filters = encodeURIComponent(JSON.stringify({ container: [sandbox.id], event: ["pause"] }));
  const until = Date.now() / 1000;
  const query = `since=${String(since)}&until=${String(until)}&filters=${filters}`;
  expect(await raw.call("GET", `/events?${query}`)).toBe("");
});

test("the network of such a sandbox goes and comes back, with its walls", async () => {
  const sandbox = await open(await prebuilt(backend, "bench-base:debian"));
  await sandbox.network("closed");
  expect(await routes(sandbox, "8.8.8.8", 9)).toBe(false);
  await sandbox.network("public");
  expect(await routes(sandbox, "8.8.8.8", 9)).toBe(true);
  expect(await routes(sandbox, "10.1.2.3", 9)).toBe(false);
});

test("the gate can be read in a sandbox and not be changed, and nothing of it stays", async () => {
  const before = await volumes();
  const other = await DockerSandboxes.connect({ env: { DOCKER_HOST: dockerHost() } });
  const image = await prebuilt(other, "bench-base:debian");
  const sandbox = await open(image, other);
  const tried = await sandbox.exec(
    shell(
      "rm -f /.benchflow/gate; (: >/.benchflow/x); mount -o remount,rw /.benchflow; ls /.benchflow",
    ),
  );
  expect(Buffer.from(tried.stdout).toString()).toBe("gate\n");
  expect((await volumes()).length).toBe(before.length + 1);
  await sandbox.destroy();
  await other.close();
  expect(await volumes()).toEqual(before);
});

test("a sandbox that outlives what lent it the gate takes its rest away", async () => {
  const before = await volumes();
  const other = await DockerSandboxes.connect({ env: { DOCKER_HOST: dockerHost() } });
  const sandbox = await open(await prebuilt(other, "bench-base:debian"), other);
  await other.close();
  expect(await outputOf(sandbox, "ls /.benchflow")).toBe("gate");
  await sandbox.destroy();
  expect(await volumes()).toEqual(before);
});

describe("an image that cannot pass the gate", () => {
  test("is refused with the reason, and leaves nothing", async () => {
    const Dockerfile = "FROM bench-base:debian\nRUN rm /bin/sh";
    const image = await backend.prepare(shop.contextOf({ Dockerfile }));
    await expect(open(image)).rejects.toMatchObject({
      failure: "start-failed",
      message: expect.stringMatching(/has no \/bin\/sh/u) as string,
    });
    const filters = JSON.stringify({
      label: [`benchflow.run=${OWNER.runId}`],
      ancestor: [image.id],
    });
    const query = `all=1&filters=${encodeURIComponent(filters)}`;
    expect(await raw.list(`/containers/json?${query}`)).toEqual([]);
  });
});

async function open(image: PreparedImage, from: DockerSandboxes = backend): Promise<Sandbox> {
  const signal = new AbortController().signal;
  const asked = {
    image,
    owner: OWNER,
    limits: LIMITS,
    network: "public",
    env: {},
    signal,
  } as const;
  const sandbox = await from.create(asked);
  made.push(sandbox);
  return sandbox;
}

async function routes(sandbox: Sandbox, address: string, port: number): Promise<boolean> {
  const program = `import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("${address}", ${String(port)}))`;
  return (await sandbox.exec(shell(`python3 -c '${program}'`))).exitCode === 0;
}

async function volumes(): Promise<readonly string[]> {
  const { Volumes } = (await raw.call("GET", "/volumes")) as { Volumes: { Name: string }[] | null };
  return (Volumes ?? []).map(({ Name }) => Name).toSorted();
}
