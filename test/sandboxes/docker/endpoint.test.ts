import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { resolveEndpoint } from "../../../sandboxes/docker/engine-endpoint.ts";
import { isOwnReference, parseReference } from "../../../sandboxes/docker/image-reference.ts";
import { readLogin } from "../../../sandboxes/docker/pull-image.ts";

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "docker-home-"));
  mkdirSync(join(home, ".docker"));
});

afterEach(() => {
  rmSync(home, { recursive: true });
});

test("DOCKER_HOST wins over a context, and a flag over both", () => {
  writeContext("remote", "tcp://context.invalid:2375");
  writeConfig({ currentContext: "remote" });
  const env = { HOME: home };
  expect(resolveEndpoint({ env }).address).toBe("tcp://context.invalid:2375");
  const withHost = { ...env, DOCKER_HOST: "unix:///run/user/1000/docker.sock" };
  expect(resolveEndpoint({ env: withHost })).toMatchObject({
    kind: "unix",
    socketPath: "/run/user/1000/docker.sock",
  });
  expect(resolveEndpoint({ env: withHost, dockerHost: "tcp://127.0.0.1:1" })).toMatchObject({
    host: "127.0.0.1",
    port: 1,
    tls: null,
  });
});

test("without any setting it is the default socket, and DOCKER_CONTEXT=default says the same", () => {
  expect(resolveEndpoint({ env: { HOME: home } }).address).toBe("unix:///var/run/docker.sock");
  writeContext("remote", "tcp://context.invalid:2375");
  writeConfig({ currentContext: "remote" });
  const env = { HOME: home, DOCKER_CONTEXT: "default" };
  expect(resolveEndpoint({ env }).address).toBe("unix:///var/run/docker.sock");
});

test("TLS comes from DOCKER_TLS_VERIFY and its folder, or from the context's own", () => {
  writeFileSync(join(home, "ca.pem"), "CA");
  const env = {
    HOME: home,
    DOCKER_HOST: "tcp://h:1",
    DOCKER_TLS_VERIFY: "1",
    DOCKER_CERT_PATH: home,
  };
  expect(resolveEndpoint({ env })).toMatchObject({
    tls: { ca: Buffer.from("CA"), cert: null, verify: true },
  });
  expect(resolveEndpoint({ env: { ...env, DOCKER_HOST: "tcp://h" } })).toMatchObject({
    port: 2376,
  });
  writeContext("secure", "tcp://h:2", { "cert.pem": "CERT" });
  expect(resolveEndpoint({ env: { HOME: home, DOCKER_CONTEXT: "secure" } })).toMatchObject({
    port: 2,
    tls: { cert: Buffer.from("CERT"), verify: true },
  });
});

test("an address that cannot be used is refused with one thing to do", () => {
  expect(resolving("ssh://me@host")).toThrow("docker over ssh is not supported: ssh://me@host");
  for (const bad of ["npipe:////./pipe/docker", "unix://relative", "host:2375", "tcp://", ""])
    expect(resolving(bad), bad).toThrow(/not a docker address/u);
  expect(() => resolveEndpoint({ env: { HOME: home, DOCKER_CONTEXT: "gone" } })).toThrow(
    'docker context "gone" does not exist',
  );
  writeFileSync(join(home, ".docker/config.json"), "{broken");
  expect(() => resolveEndpoint({ env: { HOME: home } })).toThrow("config.json cannot be read");
});

test("references split as docker splits them", () => {
  const cases = [
    ["debian", "docker.io", "debian", "latest"],
    ["debian:12", "docker.io", "debian", "12"],
    ["a/b", "docker.io", "a/b", "latest"],
    ["localhost/a:1", "localhost", "localhost/a", "1"],
    ["r.invalid:5000/a/b:1", "r.invalid:5000", "r.invalid:5000/a/b", "1"],
    ["r.invalid/a@sha256:00", "r.invalid", "r.invalid/a", "sha256:00"],
  ];
  for (const [reference = "", registry, repository, tag] of cases)
    expect(parseReference(reference)).toEqual({ registry, repository, tag });
  expect(isOwnReference("localhost/benchflow/x:1")).toBe(true);
  expect(isOwnReference("benchflow/x:1")).toBe(false);
});

test("a login is sent to its own registry alone", () => {
  const auth = Buffer.from("me:pass:word").toString("base64");
  writeConfig({ auths: { "r.invalid": { auth }, "https://index.docker.io/v1/": { auth: "" } } });
  const login = readLogin(join(home, ".docker"), "r.invalid");
  expect(JSON.parse(Buffer.from(login ?? "", "base64url").toString("utf8"))).toEqual({
    username: "me",
    password: "pass:word",
    serveraddress: "r.invalid",
  });
  expect(readLogin(join(home, ".docker"), "docker.io")).toBeNull();
  expect(readLogin(join(home, ".docker"), "other.invalid")).toBeNull();
});

function writeConfig(config: unknown): void {
  writeFileSync(join(home, ".docker/config.json"), JSON.stringify(config));
}

function writeContext(
  name: string,
  host: string,
  tls: Readonly<Record<string, string>> = {},
): void {
  const id = createHash("sha256").update(name).digest("hex");
  const meta = join(home, ".docker/contexts/meta", id);
  mkdirSync(meta, { recursive: true });
  const content = { Name: name, Endpoints: { docker: { Host: host, SkipTLSVerify: false } } };
  writeFileSync(join(meta, "meta.json"), JSON.stringify(content));
  const folder = join(home, ".docker/contexts/tls", id, "docker");
  mkdirSync(folder, { recursive: true });
  for (const [file, text] of Object.entries(tls)) writeFileSync(join(folder, file), text);
}

function resolving(dockerHost: string): () => unknown {
  return () => resolveEndpoint({ dockerHost, env: {} });
}
