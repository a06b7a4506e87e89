import { createServer } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DockerSandboxes } from "../../../sandboxes/docker/docker-sandboxes.ts";
import { outputOf } from "../../../sandboxes/contract/run-in-sandbox.ts";
import { dockerHost } from "../../setup/docker-host.ts";
import { LIMITS, OWNER } from "./docker-fixture.ts";
import { hostAddresses, ImageWorkshop, listen } from "./image-workshop.ts";

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
  const sandbox = await withClient.create({
    image,
    owner: OWNER,
    limits: LIMITS,
    network: "closed",
    env: {},
    signal: new AbortController().signal,
  });
  expect(await outputOf(sandbox, "cat /out; ls /cache")).toBe("built");
  expect(sandbox.isolation.notes.join("\n")).toContain("BuildKit built the image");
  await sandbox.destroy();
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
    message: expect.stringMatching(/returned a non-zero code: 7: why$/u),
  });
  const broken = shop.contextOf({ Dockerfile: "FROM bench-base:busybox\nFLY away\n" });
  await expect(backend.prepare(broken)).rejects.toMatchObject({
    failure: "build-failed",
    message: expect.stringContaining("Dockerfile:2:"),
  });
  const copies = shop.contextOf({ Dockerfile: "FROM bench-base:busybox\nCOPY absent /x\n" });
  await expect(backend.prepare(copies)).rejects.toMatchObject({ failure: "build-failed" });
});

test("an image never has what is left out of its context, by COPY . or by name", async () => {
  const files = {
    Dockerfile: "FROM bench-base:busybox\nCOPY . /all/\nCOPY skills/ /skills/\nCOPY a skills /x/\n",
    a: "a",
    "skills/one/SKILL.md": "secret",
  };
  const script = "ls /; ls -R /all /x";
  const request = shop.contextOf(files, { leaveOut: ["skills"] });
  const without = await shop.listing(await backend.prepare(request), script);
  expect(without).toContain("Dockerfile");
  expect(without).not.toMatch(/skills|SKILL/u);
  // The same context with everything is another image.
  const { leaveOut: _, ...whole } = request;
  expect(await shop.listing(await backend.prepare(whole), script)).toMatch(/SKILL\.md/u);
});

test("a step that fetches and fails may be the network's loss", async () => {
  const request = shop.contextOf({
    Dockerfile: "FROM bench-base:busybox\nRUN wget -q http://127.0.0.1:1/x\n",
  });
  await expect(backend.prepare(request)).rejects.toMatchObject({
    failure: "build-lost",
    message: expect.stringMatching(/it calls wget, so the network may be why$/u),
  });
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

test("ADD fetches nothing from where a sandbox may not go", async () => {
  const sources = [
    "http://169.254.169.254/latest/meta-data",
    "http://172.31.250.1:8080/x",
    "http://localhost/x",
    "http://[::1]/x",
    "$WHERE",
    "http://$HOST/x",
    "ssh://git@host.invalid/x",
  ];
  for (const source of sources) {
    const Dockerfile = `FROM bench-base:busybox\nARG WHERE=http://10.0.0.1/ HOST=10.0.0.1\nADD ${source} /x\n`;
    await expect(backend.prepare(shop.contextOf({ Dockerfile })), source).rejects.toMatchObject({
      failure: "unsupported",
      message: expect.stringContaining(`ADD ${source}`),
    });
  }
});

test("a base image's triggers run behind the same walls", async () => {
  const body = { Image: "bench-base:busybox" };
  const { Id } = (await shop.raw.call("POST", "/containers/create", body)) as { Id: string };
  const changes = encodeURIComponent("ONBUILD ADD http://169.254.169.254/x /x");
  const target = "repo=trigger.invalid/x&tag=1";
  await shop.raw.call("POST", `/commit?container=${Id}&${target}&changes=${changes}`);
  await shop.raw.call("DELETE", `/containers/${Id}`);
  try {
    const request = shop.contextOf({ Dockerfile: "FROM trigger.invalid/x:1\nENV A=1\n" });
    await expect(backend.prepare(request)).rejects.toMatchObject({ failure: "unsupported" });
  } finally {
    await shop.raw.call("DELETE", "/images/trigger.invalid/x:1?noprune=1");
  }
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

const entrypointOf = async (...lines: readonly string[]) => {
  const text = ["FROM bench-base:busybox", ...lines, ""].join("\n");
  return (await backend.prepare(shop.contextOf({ Dockerfile: text }))).entrypoint;
};

test("an image's ENTRYPOINT is told word by word, in the form in which it is started", async () => {
  expect(await entrypointOf("RUN true")).toEqual([]);
  expect(await entrypointOf('ENTRYPOINT ["/a b", "c"]')).toEqual(["/a b", "c"]);
  expect(await entrypointOf('ENTRYPOINT ["x"]', "ENTRYPOINT []")).toEqual([]);
  expect(await entrypointOf('SHELL ["/bin/sh", "-ec"]', "ENTRYPOINT a && b $C")).toEqual([
    "/bin/sh",
    "-ec",
    "a && b $C",
  ]);
});
