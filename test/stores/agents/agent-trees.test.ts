import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { identifyProcess, processState } from "../../../host/process-identity.ts";
import type { OpenTreeOptions, TreeRecipe } from "../../../core/ports/agent-trees.ts";
import { AgentTrees } from "../../../stores/agents/agent-trees.ts";
import { treeId } from "../../../stores/agents/tree-recipe.ts";

const LOCK = { lockfileVersion: 3, packages: { "": {}, "node_modules/a": { version: "1.0.0" } } };
const RECIPE: TreeRecipe = {
  name: "some-agent",
  platform: "linux/amd64",
  packages: { a: "1.0.0" },
  lock: LOCK,
};

let root: string;
let calls: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "agent-trees-"));
  calls = join(root, "npm-calls");
  writeFileSync(calls, "");
  mkdirSync(join(root, "bin"));
  useNpm(
    "mkdir -p node_modules/a && echo '#!/bin/sh' > node_modules/a/run && chmod 700 node_modules/a/run",
  );
});

afterEach(() => rmSync(root, { recursive: true }));

/** What stands for npm: notes its arguments and its environment, then does what the test says. */
function useNpm(body: string): void {
  const path = join(root, "bin", "npm");
  writeFileSync(path, `#!/bin/sh\necho "$* $(env | sort | tr '\\n' ' ')" >> ${calls}\n${body}\n`);
  chmodSync(path, 0o755);
}

function open(env: Record<string, string> = {}): AgentTrees {
  const path = `${join(root, "bin")}:/usr/bin:/bin`;
  return new AgentTrees({ dir: join(root, "cache"), env: { PATH: path, ...env } });
}

const npmCalls = (): string[] => readFileSync(calls, "utf8").split("\n").filter(Boolean);

function options(signal = new AbortController().signal): OpenTreeOptions {
  return { signal, onInstall: () => undefined };
}

test("a tree is installed once, from its lock, for the sandbox's platform, without any script", async () => {
  const trees = open();
  const { dir } = await trees.open(RECIPE, options());
  expect(dir).toBe(join(root, "cache", "trees", treeId(RECIPE)));
  await open().open(RECIPE, options());
  expect(npmCalls()).toHaveLength(1);
  expect(npmCalls()[0]).toMatch(/^ci --ignore-scripts .*--os=linux --cpu=x64 --libc=glibc/u);
  expect(JSON.parse(readFileSync(join(dir, "package-lock.json"), "utf8"))).toMatchObject({
    packages: { "": { dependencies: { a: "1.0.0" } }, "node_modules/a": { version: "1.0.0" } },
  });
});

test("everyone can read and run a tree, and only its owner can change it", async () => {
  const { dir } = await open().open(RECIPE, options());
  expect(statSync(join(dir, "node_modules/a/run")).mode & 0o777).toBe(0o755);
  expect(statSync(join(dir, "node_modules/a")).mode & 0o777).toBe(0o755);
  expect(statSync(join(dir, "package.json")).mode & 0o777).toBe(0o644);
});

test("npm is given the way to its registry and no key of the person's", async () => {
  const env = { ANTHROPIC_API_KEY: "sk-1", npm_config_registry: "r", https_proxy: "p" };
  await open(env).open(RECIPE, options());
  expect(npmCalls()[0]).toContain("npm_config_registry=r");
  expect(npmCalls()[0]).toContain("https_proxy=p");
  expect(npmCalls()[0]).not.toContain("sk-1");
});

test("many installers at once make one tree with one npm", async () => {
  useNpm("sleep 0.4; mkdir -p node_modules/a");
  const held = await Promise.all(
    [1, 2, 3, 4].map(async () => await open().open(RECIPE, options())),
  );
  expect(new Set(held.map(({ dir }) => dir)).size).toBe(1);
  expect(npmCalls()).toHaveLength(1);
});

test("another lock, platform or version is another tree", () => {
  const ids = [
    RECIPE,
    { ...RECIPE, platform: "linux/arm64" },
    { ...RECIPE, packages: { a: "1.0.1" } },
    { ...RECIPE, lock: { ...LOCK, lockfileVersion: 2 } },
  ].map((recipe) => treeId(recipe));
  expect(new Set(ids).size).toBe(4);
});

test("an install that failed leaves nothing that looks installed, tells npm's words, and can be tried again", async () => {
  useNpm("mkdir -p node_modules/a; echo 'E404 no such package' >&2; exit 1");
  await expect(open().open(RECIPE, options())).rejects.toMatchObject({
    kind: "unavailable",
    message: "npm could not install some-agent: E404 no such package",
  });
  expect(await open().list()).toEqual([]);
  for (const folder of ["trees", "staging", "locks", "uses"])
    expect(readdirSync(join(root, "cache", folder))).toEqual([]);
  useNpm("mkdir -p node_modules/a");
  await open().open(RECIPE, options());
  expect(await open().list()).toMatchObject([{ name: "some-agent", packages: { a: "1.0.0" } }]);
});

test("an aborted install ends npm and all that it started", async () => {
  useNpm(`sleep 600.25 & echo $! > ${root}/pid; wait`);
  const stop = new AbortController();
  const opening = open().open(RECIPE, options(stop.signal));
  opening.catch(() => undefined);
  const pidFile = join(root, "pid");
  await expect
    .poll(() => statSync(pidFile, { throwIfNoEntry: false })?.size ?? 0)
    .toBeGreaterThan(0);
  const child = identifyProcess(Number(readFileSync(pidFile, "utf8")));
  expect(processState(child)).toBe("alive");
  stop.abort(new Error("stopped"));
  await expect(opening).rejects.toThrow("stopped");
  await expect.poll(() => processState(child)).toBe("dead");
});

test("an install whose run was stopped before it began waits for no npm", async () => {
  useNpm("sleep 600.5");
  const signal = AbortSignal.abort(new Error("stopped"));
  await expect(open().open(RECIPE, options(signal))).rejects.toThrow("stopped");
});

test("the lock of an installer that was killed is taken over", async () => {
  await open().open({ ...RECIPE, name: "other" }, options());
  const identity = await identityOfDead();
  writeFileSync(join(root, "cache", "locks", treeId(RECIPE)), identity);
  await open().open(RECIPE, options());
  expect(npmCalls()).toHaveLength(2);
});

test("prune removes what is neither kept nor in use, and what killed installers left", async () => {
  const other = { ...RECIPE, name: "old" };
  const used = { ...RECIPE, name: "used" };
  const kept = await open().open(RECIPE, options());
  await (await open().open(other, options())).release();
  await open().open(used, options());
  await kept.release();
  const identity = await identityOfDead();
  writeFileSync(join(root, "cache/staging/half.owner"), identity);
  mkdirSync(join(root, "cache/staging/half"));
  const removed = await open().prune([RECIPE]);
  expect(removed.map(({ name }) => name)).toEqual(["old"]);
  expect((await open().list()).map(({ name }) => name).toSorted()).toEqual(["some-agent", "used"]);
  expect(readdirSync(join(root, "cache/staging"))).toEqual([]);
});

/** The identity of a process that has ended, as another process of this machine would have left it. */
async function identityOfDead(): Promise<string> {
  const script = `import("${join(import.meta.dirname, "../../../host/process-identity.ts")}").then((m) => process.stdout.write(m.identifyProcess()))`;
  const child = spawn(process.execPath, ["--import", "tsx", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  child.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  await once(child, "close");
  expect(printed).toContain("/");
  return printed;
}
