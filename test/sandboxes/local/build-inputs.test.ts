import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { fitBase } from "../../../sandboxes/local/image/base-family.ts";
import { BuildContext } from "../../../sandboxes/local/image/build-context.ts";
import { readRecipe } from "../../../sandboxes/local/image/build-recipe.ts";
import { runRequest } from "./requests.ts";
import { tempFolder } from "../../setup/temp-folder.ts";

function contextWith(files: Readonly<Record<string, string>>): string {
  const dir = tempFolder("context");
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  return dir;
}

const DEBIAN = { id: "debian", versionId: "12", codename: "bookworm", like: ["debian"] };
const UBUNTU = { id: "ubuntu", versionId: "24.04", codename: "noble", like: ["ubuntu", "debian"] };
const FEDORA = { id: "fedora", versionId: "40", codename: "", like: ["fedora"] };

describe("fitBase", () => {
  test.for([
    "debian:bookworm",
    "ubuntu:24.04",
    "ubuntu",
    "docker.io/library/debian:12@sha256:00",
    "buildpack-deps:jammy",
  ])("takes %s on Debian and Ubuntu, and says what it stands for", (reference) => {
    expect(fitBase(reference, DEBIAN, {})).toEqual({
      note: `FROM ${reference} stands for this machine's debian 12`,
      program: null,
      alias: null,
    });
    expect(fitBase(reference, UBUNTU, {}).program).toBeNull();
    expect(() => fitBase(reference, FEDORA, {})).toThrow(
      /this machine's fedora 40: use --env docker/u,
    );
  });

  test("knows the program that a language's image promises", () => {
    expect(fitBase("python:3.12-slim", DEBIAN, {})).toMatchObject({
      program: "python3",
      alias: "python",
    });
    expect(fitBase("node:22-bookworm", DEBIAN, {})).toMatchObject({ program: "node", alias: null });
  });

  test.for([
    "alpine:3.20",
    "python:3.12-alpine",
    "busybox",
    "fedora:40",
    "ghcr.io/some/one:1",
    "registry:5000/debian",
  ])("refuses %s, and takes it where it is mapped to the host", (reference) => {
    expect(() => fitBase(reference, DEBIAN, {})).toThrow(`FROM ${reference} is not known to be`);
    expect(fitBase(reference, FEDORA, { [reference]: "host" }).note).toBe(
      `FROM ${reference} mapped to this machine's fedora 40`,
    );
  });

  test("refuses scratch", () => {
    expect(() => fitBase("scratch", DEBIAN, {})).toThrow("FROM scratch needs --env docker");
  });
});

function read(dockerfile: string): ReturnType<typeof readRecipe> {
  const contextDir = contextWith({ Dockerfile: dockerfile });
  return readRecipe(runRequest({ process: "x", contextDir, digest: "0" }).image, "linux/amd64");
}

describe("readRecipe", () => {
  test("reads a single stage, with its FROM expanded", () => {
    const recipe = read("ARG TAG=24.04\nFROM ubuntu:${TAG}\nRUN true\nUSER me\n");
    expect(recipe.from).toBe("ubuntu:24.04");
    expect(recipe.instructions.map(({ kind }) => kind)).toEqual(["RUN", "USER"]);
  });

  test("a stage that the last one does not need is no hindrance", () => {
    expect(read("FROM golang AS unused\nRUN go build\nFROM debian:12\nRUN true\n").from).toBe(
      "debian:12",
    );
  });

  test.for([
    ["FROM golang AS build\nFROM debian\nCOPY --from=build /a /a\n", "a build of several stages"],
    ["FROM debian\nCOPY --from=nginx /a /a\n", "COPY --from=nginx"],
    ["FROM scratch\nCOPY a /\n", "FROM scratch"],
    ["FROM --platform=linux/s390x debian\n", "--platform=linux/s390x"],
    ["FROM debian\nADD https://example.com/a /a\n", "ADD https://example.com/a"],
    ["FROM debian\nRUN --mount=type=secret,id=x cat /run/secrets/x\n", "RUN --mount=type=secret"],
    ["FROM debian\nRUN --network=host true\n", "RUN --network=host"],
  ] as const)("refuses what only Docker builds, with its line: %s", ([dockerfile, what]) => {
    expect(() => read(dockerfile)).toThrow(what);
    expect(() => read(dockerfile)).toThrow(/^Dockerfile:\d+: .*use --env docker$/u);
  });

  test("says what Docker would refuse, and that there is no Dockerfile", () => {
    expect(() => read("FROM debian\nNONSENSE x\n")).toThrow(/Dockerfile:2/u);
    const empty = runRequest({ process: "x", contextDir: contextWith({}), digest: "0" }).image;
    expect(() => readRecipe(empty, "linux/amd64")).toThrow("no Dockerfile at");
  });
});

describe("BuildContext", () => {
  const context = new BuildContext(
    contextWith({
      Dockerfile: "FROM debian\n",
      ".dockerignore": "secret\n**/*.log\n!kept.log\n",
      "app/a.txt": "a",
      "app/sub/b.txt": "b",
      "app/sub/x.log": "x",
      "kept.log": "k",
      secret: "s",
      "one.py": "1",
      "two.py": "2",
    }),
  );
  const names = (source: string): string[] =>
    context.find(source, 1).map(({ name }) => String(name));

  test("finds files and folders by name and by wildcard, less what is ignored", () => {
    expect(names("app")).toEqual(["app"]);
    expect(names("./app/a.txt")).toEqual(["app/a.txt"]);
    expect(names("/app/")).toEqual(["app"]);
    expect(names("*.py")).toEqual(["one.py", "two.py"]);
    expect(names("app/*")).toEqual(["app/a.txt", "app/sub"]);
    expect(names("?ept.log")).toEqual(["kept.log"]);
    const [app] = context.find("app", 1);
    expect(app && context.below(app).map(({ name }) => String(name))).toEqual([
      "a.txt",
      "sub",
      "sub/b.txt",
    ]);
  });

  test("refuses what is ignored, missing, or outside, with the line", () => {
    expect(() => names("secret")).toThrow("Dockerfile:1: secret is not in the build context");
    expect(() => names("*.log/none")).toThrow("is not in the build context");
    expect(() => names("../outside")).toThrow("leaves the build context");
  });

  test("takes a link for what it leads to inside the context, and refuses one that leads out", () => {
    const dir = contextWith({ Dockerfile: "", "real/file": "x" });
    symlinkSync("real", join(dir, "inner"));
    symlinkSync("/etc/passwd", join(dir, "outer"));
    symlinkSync("nowhere", join(dir, "dangling"));
    const linked = new BuildContext(dir);
    expect(linked.find("inner", 1).map(({ name }) => String(name))).toEqual(["real"]);
    expect(() => linked.find("outer", 4)).toThrow("Dockerfile:4: outer is a link to /etc/passwd");
    expect(() => linked.find("dangling", 4)).toThrow("dangling is a link to nowhere");
  });
});
