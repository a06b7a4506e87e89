import { afterAll, beforeAll, expect, test } from "vitest";
import { DockerSandboxes } from "../../../sandboxes/docker/docker-sandboxes.ts";
import { dockerHost } from "../../setup/docker-host.ts";
import { LIMITS, OWNER } from "./docker-fixture.ts";
import { ImageWorkshop } from "./image-workshop.ts";

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

test("a second run finds the image that the first one built, and does not own it", async () => {
  const request = shop.contextOf({ Dockerfile: "FROM bench-base:busybox\nRUN date +%N > /when\n" });
  const first = await backend.prepare(request);
  const other = await DockerSandboxes.connect({ env: { DOCKER_HOST: host } });
  const second = await other.prepare({ ...request, owner: { ...OWNER, runId: "another" } });
  expect(first.builtHere).toBe(true);
  expect(second).toEqual({ ...first, builtHere: false });
});

test("another context digest, or another base, is another image", async () => {
  const request = shop.contextOf({ Dockerfile: "FROM base\nENV A=1\n" });
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
  const request = shop.contextOf({ Dockerfile: "FROM bench-base:busybox\nRUN sleep 0.5\n" });
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

test("an image that only claims to be ours is not taken for the task's", async () => {
  const request = shop.contextOf({
    Dockerfile: "FROM bench-base:busybox\nENV WHOSE=ours\n",
  });
  const ours = await backend.prepare(request);
  const key = (await shop.labelsOf(ours))["benchflow.key"] ?? "";
  const forged = shop.contextOf({
    Dockerfile: `FROM bench-base:busybox\nLABEL benchflow.key=${key}\nENV WHOSE=forged\n`,
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
  expect(again.env["WHOSE"]).toBe("ours");
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
  const files = { Dockerfile: "FROM bench-base:busybox\nENV ONE=1\nENV TWO=2\n" };
  const left = await backend.prepare({ ...shop.contextOf(files), owner: dead });
  const inUse = await backend.prepare({ ...shop.contextOf(files), owner: dead });
  const live = await backend.prepare(shop.contextOf(files));
  const mine = "mine.invalid/base:1";
  await shop.raw.call("POST", "/images/bench-base:debian/tag?repo=mine.invalid/base&tag=1");
  const fromMine = await backend.prepare({
    ...shop.contextOf({ Dockerfile: `FROM ${mine}\nENV THREE=3\n` }),
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
