import { createServer } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DockerSandboxes } from "../../../sandboxes/docker/docker-sandboxes.ts";
import { dockerHost } from "../../setup/docker-host.ts";
import { LIMITS, OWNER } from "./docker-fixture.ts";
import { hostAddresses, ImageWorkshop, listen } from "./image-workshop.ts";

const DEAD = OWNER.process.replace(/\/\d+\/\d+$/u, "/4194303/1");
const host = dockerHost();
let backend: DockerSandboxes;
let shop: ImageWorkshop;

beforeAll(async () => {
  backend = await DockerSandboxes.connect({ env: { DOCKER_HOST: host } });
  shop = new ImageWorkshop(host, backend);
});

afterAll(async () => {
  await shop.close();
});

test("a task's Dockerfile is built with its context, and its settings come along", async () => {
  const lines: string[] = [];
  const request = shop.contextOf(
    {
      Dockerfile:
        "FROM bench-base:debian\nWORKDIR /work\nENV KEY='two words'\nCOPY . .\nRUN echo from-a-step && ls -a > /listing\nUSER nobody\n",
      "kept.txt": "kept\n",
      "secret.txt": "no\n",
      "sub/deep.txt": "deep\n",
      ".dockerignore": "secret.txt\n",
    },
    { onLine: (line) => lines.push(line) },
  );
  const image = await backend.prepare(request);
  expect(image).toMatchObject({ workdir: "/work", user: "nobody", builtHere: true });
  expect(image.env["KEY"]).toBe("two words");
  expect(image.digest).toBe(image.id);
  expect(lines.join("\n")).toContain("from-a-step");
  expect(await shop.listing(image, "cat /listing; cat /work/sub/deep.txt")).toBe(
    ".\n..\n.dockerignore\nDockerfile\nkept.txt\nsub\ndeep",
  );
});

test("a second run finds the image that the first one built, and does not own it", async () => {
  const request = shop.contextOf({ Dockerfile: "FROM bench-base:debian\nRUN date +%N > /when\n" });
  const first = await backend.prepare(request);
  const other = await DockerSandboxes.connect({ env: { DOCKER_HOST: host } });
  const second = await other.prepare({ ...request, owner: { ...OWNER, runId: "another" } });
  expect(first.builtHere).toBe(true);
  expect(second).toEqual({ ...first, builtHere: false });
});

test("another context digest, or another base, is another image", async () => {
  const request = shop.contextOf({ Dockerfile: "FROM base\nRUN true\n" });
  const onDebian = { ...request, baseImageMap: { base: "bench-base:debian" } };
  const first = await backend.prepare(onDebian);
  const elsewhere = await backend.prepare({
    ...request,
    baseImageMap: { base: "bench-base:busybox" },
  });
  const changed = await backend.prepare({
    ...onDebian,
    source: { kind: "dockerfile", contextDigest: shop.digestOf("changed") },
  });
  expect(new Set([first.id, elsewhere.id, changed.id]).size).toBe(3);
  expect(await shop.tagsOf(first)).not.toEqual(await shop.tagsOf(changed));
});

test("two jobs that build the same task at once never share a tag", async () => {
  const request = shop.contextOf({ Dockerfile: "FROM bench-base:debian\nRUN sleep 0.5\n" });
  const other = await DockerSandboxes.connect({ env: { DOCKER_HOST: host } });
  const images = await Promise.all([
    backend.prepare(request),
    other.prepare({ ...request, owner: { ...OWNER, jobName: "another" } }),
  ]);
  expect(images.every(({ builtHere }) => builtHere)).toBe(true);
  const tags = (await Promise.all(images.map(shop.tagsOf))).flat();
  expect(new Set(tags).size).toBe(images[0]?.id === images[1]?.id ? 2 : tags.length);
  expect(tags.length).toBeGreaterThanOrEqual(2);
});

test("a mapped base is what FROM and COPY --from mean, and the image shows no trace of it", async () => {
  const request = shop.contextOf({
    Dockerfile:
      "ARG VERSION=3\nFROM nowhere.invalid/tools:1 AS tools\nFROM nowhere.invalid/os:${VERSION}\nCOPY --from=tools /bin/busybox /bb\nCOPY --from=nowhere.invalid/tools:1 /etc/passwd /pw\nWORKDIR /ctx\nCOPY . .\n",
    "a.txt": "a",
  });
  const baseImageMap = {
    "nowhere.invalid/tools:1": "bench-base:busybox",
    "nowhere.invalid/os:3": "bench-base:debian",
  };
  const image = await backend.prepare({ ...request, baseImageMap });
  expect(
    await shop.listing(
      image,
      "test -x /bb && echo hi; cat /pw; ls -a /ctx; test -e /etc/debian_version",
    ),
  ).toBe("hi\nroot:x:0:0:root:/root:/bin/sh\n.\n..\nDockerfile\na.txt");
});

test("a script in a heredoc is built by a daemon that knows none", async () => {
  const request = shop.contextOf({
    Dockerfile:
      'FROM bench-base:debian\nENV WHO=me\nRUN <<EOF\nset -e\nfor n in 1 2; do\n  echo "$WHO $n \\"q\\"" >> /out\ndone\nEOF\nSHELL ["/bin/bash", "-c"]\nRUN <<"END"\n[[ a == a ]] && echo \'$bash\' >> /out\nEND\n',
  });
  const image = await backend.prepare(request);
  expect(await shop.listing(image, "cat /out")).toBe('me 1 "q"\nme 2 "q"\n$bash');
});

test("what only BuildKit builds is built by docker's client, or refused with the line", async () => {
  const files = {
    Dockerfile:
      "FROM bench-base:debian\nRUN --mount=type=cache,target=/cache echo x > /cache/x && echo built > /out\n",
  };
  const withClient = await DockerSandboxes.connect({
    env: { DOCKER_HOST: host, PATH: "/usr/bin:/bin", HOME: shop.folder },
  });
  const image = await withClient.prepare(shop.contextOf(files));
  expect(image.builtHere).toBe(true);
  expect(await shop.listing(image, "cat /out; ls /cache")).toBe("built");
  const without = await DockerSandboxes.connect({
    env: { DOCKER_HOST: host, PATH: "/nonexistent", HOME: shop.folder },
  });
  await expect(without.prepare(shop.contextOf(files))).rejects.toMatchObject({
    failure: "unsupported",
    message: expect.stringMatching(/^line 2: RUN --mount needs BuildKit/u),
  });
});

test("a step that fails is the task's fault, with the daemon's words", async () => {
  const request = shop.contextOf({
    Dockerfile: "FROM bench-base:debian\nRUN echo why >&2; exit 7\n",
  });
  await expect(backend.prepare(request)).rejects.toMatchObject({
    failure: "build-failed",
    message: expect.stringContaining("returned a non-zero code: 7"),
  });
  const broken = shop.contextOf({ Dockerfile: "FROM bench-base:debian\nFLY away\n" });
  await expect(backend.prepare(broken)).rejects.toMatchObject({
    failure: "build-failed",
    message: expect.stringContaining("Dockerfile:2:"),
  });
  const copies = shop.contextOf({ Dockerfile: "FROM bench-base:debian\nCOPY absent /x\n" });
  await expect(backend.prepare(copies)).rejects.toMatchObject({ failure: "build-failed" });
});

test("an image that cannot be had is no fault of the task", async () => {
  const request = shop.contextOf({ Dockerfile: "FROM nowhere.invalid/x:1\n" });
  await expect(backend.prepare(request)).rejects.toMatchObject({
    failure: "image-missing",
    message: expect.stringContaining("docker pull nowhere.invalid/x:1"),
  });
  const source = { kind: "prebuilt", reference: "nowhere.invalid/x:1" } as const;
  await expect(backend.prepare({ ...request, source })).rejects.toMatchObject({
    failure: "image-missing",
  });
});

test("a build that takes too long, or is aborted, ends with all its steps", async () => {
  const request = shop.contextOf({ Dockerfile: "FROM bench-base:debian\nRUN sleep 301.5\n" });
  await expect(backend.prepare({ ...request, timeoutMs: 1500 })).rejects.toMatchObject({
    failure: "build-timeout",
  });
  const controller = new AbortController();
  const reason = new Error("stopped by the test");
  const building = backend.prepare({ ...request, signal: controller.signal });
  setTimeout(() => {
    controller.abort(reason);
  }, 1500);
  await expect(building).rejects.toBe(reason);
  await expect.poll(shop.buildContainers, { timeout: 15_000 }).toEqual([]);
});

test("a step of a build reaches neither the host nor the private ranges", async () => {
  const server = createServer((socket) => socket.on("error", () => undefined).end("reached"));
  const port = await listen(server);
  try {
    const addresses = [...hostAddresses(), "172.31.250.1", "169.254.169.254"];
    const tries = addresses.map(
      (address) =>
        `(timeout 3 bash -c 'exec 3<>/dev/tcp/${address}/${String(port)}' && echo ${address} >> /reached) || true`,
    );
    const request = shop.contextOf({
      Dockerfile: `FROM bench-base:debian\nRUN touch /reached; grep -c : /proc/net/dev > /interfaces; ${tries.join("; ")}\n`,
    });
    const image = await backend.prepare(request);
    expect(await shop.listing(image, "cat /reached")).toBe("");
    // The step did have a network: two interfaces and the header's colon-less lines.
    expect(await shop.listing(image, "cat /interfaces")).toBe("2");
  } finally {
    server.close();
  }
});

test("an image that only claims to be ours is not taken for the task's", async () => {
  const request = shop.contextOf({
    Dockerfile: "FROM bench-base:debian\nRUN echo ours > /whose\n",
  });
  const ours = await backend.prepare(request);
  const key = (await shop.labelsOf(ours))["benchflow.key"] ?? "";
  const forged = shop.contextOf({
    Dockerfile: `FROM bench-base:debian\nLABEL benchflow.key=${key}\nRUN echo forged > /whose\n`,
  });
  const forger = await backend.prepare(forged);
  expect((await shop.labelsOf(forger))["benchflow.key"]).not.toBe(key);
  // Under a name of its own, an image may carry any label: it is older than ours would be, and still not used.
  await shop.raw.call("POST", `/images/${forger.id}/tag?repo=elsewhere.invalid/x&tag=1`);
  await shop.raw.call(
    "DELETE",
    `/images/${encodeURIComponent((await shop.tagsOf(ours))[0] ?? "")}?noprune=1`,
  );
  const again = await backend.prepare(request);
  expect(await shop.listing(again, "cat /whose")).toBe("ours");
  await shop.raw.call("DELETE", "/images/elsewhere.invalid/x:1?noprune=1");
  await expect(
    backend.prepare({
      ...request,
      source: { kind: "prebuilt", reference: "localhost/benchflow/x:1" },
    }),
  ).rejects.toMatchObject({ failure: "unsupported" });
});

test("pruning removes what ended runs built, and nothing else", async () => {
  const dead = { ...OWNER, process: DEAD };
  const files = { Dockerfile: "FROM bench-base:debian\nRUN echo 1 > /one\nRUN echo 2 > /two\n" };
  const left = await backend.prepare({ ...shop.contextOf(files), owner: dead });
  const inUse = await backend.prepare({ ...shop.contextOf(files), owner: dead });
  const live = await backend.prepare(shop.contextOf(files));
  const mine = "mine.invalid/base:1";
  await shop.raw.call("POST", "/images/bench-base:debian/tag?repo=mine.invalid/base&tag=1");
  const fromMine = await backend.prepare({
    ...shop.contextOf({ Dockerfile: `FROM ${mine}\nRUN echo 3 > /three\n` }),
    owner: dead,
  });
  const sandbox = await backend.create({
    image: inUse,
    owner: OWNER,
    limits: LIMITS,
    network: "closed",
    env: {},
    signal: new AbortController().signal,
  });
  const [leftTags, fromMineTags] = [await shop.tagsOf(left), await shop.tagsOf(fromMine)];
  const removed = await backend.removeImages();
  try {
    expect(removed).toEqual(expect.arrayContaining([...leftTags, ...fromMineTags]));
    expect(await shop.exists(left.id)).toBe(false);
    expect(await shop.exists(fromMine.id)).toBe(false);
    for (const kept of [inUse.id, live.id, "bench-base:debian", "bench-base:busybox", mine])
      expect(await shop.exists(kept), kept).toBe(true);
  } finally {
    await sandbox.destroy();
    await shop.raw.call("DELETE", `/images/${mine}?noprune=1`);
  }
});

test("a prebuilt image is used as it is, and destroying its sandboxes leaves it", async () => {
  const request = shop.contextOf({});
  const image = await backend.prepare({
    ...request,
    source: { kind: "prebuilt", reference: "bench-base:busybox" },
  });
  expect(image.builtHere).toBe(false);
  expect(await shop.listing(image, "echo up")).toBe("up");
  expect(await shop.exists("bench-base:busybox")).toBe(true);
});
