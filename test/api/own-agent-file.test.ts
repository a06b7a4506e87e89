import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { chooseRunAgent } from "../../api/choose-run-agent.ts";
import { digestOwnFile } from "../../api/digest-own-file.ts";
import { lockAgentFile } from "../../api/lock-agent-file.ts";
import { nameOwnFiles } from "../../api/name-own-files.ts";
import { readOwnAgent, readOwnDefinition } from "../../api/own-agent-file.ts";
import { sha256, someSettings } from "../core/plan/plan-builders.ts";

const GOOD = {
  name: "mine",
  aliases: ["m"],
  protocols: ["openai-completions"],
  argv: ["{node}", "{tree}/node_modules/mine/index.js"],
  env: { MY_KEY: "{token}", MY_URL: "{base}" },
  packages: { mine: "1.2.3" },
};
const SHA = `sha512-${"A".repeat(86)}==`;
const LOCK = {
  lockfileVersion: 3,
  locks: { mine: "1.2.3" },
  packages: {
    "node_modules/mine": { version: "1.2.3", integrity: SHA },
    "node_modules/mine/node_modules/@x/y": { version: "0.1.0", integrity: SHA, optional: true },
  },
};

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "bench-own-"));
});
afterEach(async () => {
  await rm(dir, { recursive: true });
});

async function write(name: string, content: unknown): Promise<string> {
  const path = join(dir, name);
  await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

/** Stands for npm: writes a lock as npm does, and tells what it was asked and given. */
async function fakeNpm(lock: object): Promise<Record<string, string>> {
  const bin = join(dir, "bin");
  await mkdir(bin);
  const script = `#!${process.execPath}
const fs = require("node:fs");
fs.writeFileSync(${JSON.stringify(join(dir, "asked.json"))}, JSON.stringify({ argv: process.argv.slice(2), env: Object.keys(process.env), manifest: JSON.parse(fs.readFileSync("package.json", "utf8")) }));
fs.writeFileSync("package-lock.json", ${JSON.stringify(JSON.stringify(lock))});
`;
  await writeFile(join(bin, "npm"), script);
  await chmod(join(bin, "npm"), 0o755);
  return { PATH: `${bin}:${dirname(process.execPath)}`, OPENAI_API_KEY: "sk-secret" };
}

describe("an agent's file", () => {
  test.for([
    ["a key that nobody knows", { scripts: {} }, /scripts/u],
    ["a range of versions", { packages: { mine: "^1.2.3" } }, /no exact version/u],
    ["a package by address", { packages: { "git+ssh://x/y": "1.0.0" } }, /packages/u],
    [
      "a package that is a key of all objects",
      { packages: JSON.parse('{"__proto__":"1.0.0"}') },
      /packages/u,
    ],
    ["a file above its home", { files: [{ path: "a/../../x", content: "" }] }, /below a home/u],
    ["a file by absolute path", { files: [{ path: "/etc/passwd", content: "" }] }, /below a home/u],
    ["a file in no folder", { files: [{ path: "a//b", content: "" }] }, /below a home/u],
    [
      "a file with a line break in its name",
      { files: [{ path: "a\nb", content: "" }] },
      /below a home/u,
    ],
    [
      "two files of one name",
      {
        files: [
          { path: "a", content: "" },
          { path: "a", content: "" },
        ],
      },
      /in the way/u,
    ],
    [
      "a file where another wants a folder",
      {
        files: [
          { path: "a", content: "" },
          { path: "a/b", content: "" },
        ],
      },
      /in the way/u,
    ],
    ["a null byte on its command line", { argv: ["x\0y"] }, /argv/u],
    ["no command", { argv: [] }, /argv/u],
    ["its token on its command line", { argv: ["x", "--key={token}"] }, /argv holds \{token\}/u],
    ["no token anywhere", { env: { MY_URL: "{base}" } }, /holds \{token\}/u],
    ["no address of its models", { env: { MY_KEY: "{token}" } }, /through the proxy/u],
    [
      "a provider's key of its own",
      { env: { ...GOOD.env, OPENAI_API_KEY: "sk-mine" } },
      /OPENAI_API_KEY/u,
    ],
    ["another home", { env: { ...GOOD.env, HOME: "/root" } }, /sets HOME/u],
    [
      "a library before all others",
      { env: { ...GOOD.env, LD_PRELOAD: "/x.so" } },
      /sets LD_PRELOAD/u,
    ],
    ["a prompt of its own", { calls: [{ method: "session/prompt" }] }, /runner's to call/u],
    ["the name of an agent of ours", { name: "claude" }, /claude is an agent of this edition/u],
    ["the alias of a control", { aliases: ["oracle"] }, /oracle is an agent of this edition/u],
    ["a word that is empty without an effort", { argv: ["x", "--effort={effort}"] }, /is empty/u],
    ["an effort for files that tell none", { effort: "files" }, /nothing tells \{effort\}/u],
    ["an effort of one value", { effort: { env: { LEVEL: "high" } } }, /nothing tells/u],
    ["a program of a tree that it has not", { packages: {} }, /packages is empty/u],
  ] as const)("with %s is refused, naming it", async ([, over, message]) => {
    await expect(readOwnDefinition(await write("a.json", GOOD))).resolves.toMatchObject(GOOD);
    const bad = await write("bad.json", { ...GOOD, ...over });
    await expect(readOwnDefinition(bad)).rejects.toThrow(message);
  });

  test.for([
    { effort: "files", files: [{ path: "c", content: "", withEffort: "level={effort}" }] },
    { effort: { env: { LEVEL: "{effort}", THINKS: "1" } } },
    { effort: { option: "effort" } },
  ])("with an effort that it is told is one: %o", async (over) => {
    const path = await write("a.json", { ...GOOD, ...over });
    await expect(readOwnDefinition(path)).resolves.toMatchObject(over);
  });

  test("nested without end, or with aliases without end, is refused and not followed", async () => {
    const deep = `{"name":"mine","sessionMeta":{"a":${"[".repeat(200_000)}${"]".repeat(200_000)}}}`;
    await expect(readOwnDefinition(await write("deep.json", deep))).rejects.toMatchObject({
      kind: "config",
    });
    const bomb = ["a: &a [x, x]", "b: &b [*a, *a, *a, *a, *a, *a, *a, *a]"]
      .concat(["c: &c [*b, *b, *b, *b, *b, *b, *b, *b]", "d: [*c, *c, *c, *c, *c, *c, *c, *c]"])
      .join("\n");
    await expect(readOwnDefinition(await write("bomb.yaml", bomb))).rejects.toMatchObject({
      kind: "config",
    });
  });

  test("tells the line of what is no YAML", async () => {
    const path = await write("a.yml", "name: mine\nargv: [x\n");
    await expect(readOwnDefinition(path)).rejects.toThrow(/^--agent-file a.yml: line \d+: /u);
  });
});

describe("an agent's lock", () => {
  test("is needed, and the command that makes it is named", async () => {
    const path = await write("a.yaml", JSON.stringify(GOOD));
    await expect(readOwnAgent(path)).rejects.toMatchObject({
      message: expect.stringContaining("a.lock.json: it cannot be read (ENOENT)"),
      next: `\`bench agents lock ${path}\` writes it`,
    });
    await write("a.lock.json", LOCK);
    await expect(readOwnAgent(path)).resolves.toMatchObject({
      lock: { packages: LOCK.packages },
    });
  });

  const entry = (over: object) => ({
    "node_modules/mine": { version: "1.2.3", integrity: SHA, ...over },
  });
  test.for([
    ["of another version", { locks: { mine: "1.2.4" } }, /of other packages or versions/u],
    ["of one package more", { locks: { mine: "1.2.3", b: "1.0.0" } }, /of other packages/u],
    [
      "whose tree has another version",
      { packages: entry({ version: "1.2.2" }) },
      /of other packages/u,
    ],
    [
      "with an address",
      { packages: entry({ resolved: "https://evil.example/x.tgz" }) },
      /an address/u,
    ],
    ["with a link", { packages: entry({ link: true }) }, /a link/u],
    ["without a digest", { packages: { "node_modules/mine": { version: "1.2.3" } } }, /no digest/u],
    ["with a weak digest", { packages: entry({ integrity: "sha1-AAAA" }) }, /no sha512/u],
    [
      "with a place outside",
      { packages: { "../x": { version: "1.0.0", integrity: SHA } } },
      /at packages\["..\/x"\]/u,
    ],
    ["with a script to run", { scripts: { postinstall: "x" } }, /scripts/u],
  ] as const)("%s is refused", async ([, over, message]) => {
    const path = await write("a.json", GOOD);
    await write("a.lock.json", { ...LOCK, ...over });
    await expect(readOwnAgent(path)).rejects.toThrow(message);
  });

  test("is written by npm's word beside the file, without addresses, and then stands", async () => {
    const resolved = "https://registry.example/mine.tgz";
    const packages = {
      "": { name: "bench-agent" },
      "node_modules/mine": { version: "1.2.3", integrity: SHA, resolved },
      "node_modules/mine/node_modules/z": { version: "0.1.0", inBundle: true },
    };
    const env = await fakeNpm({ lockfileVersion: 3, packages });
    const path = await write("a.yaml", JSON.stringify(GOOD));
    const { signal } = new AbortController();
    const written = await lockAgentFile(path, { env, signal });
    expect(written).toEqual({ path: join(dir, "a.lock.json"), packages: 2 });
    expect(await readFile(join(dir, "a.lock.json"), "utf8")).not.toContain("registry");
    const asked: unknown = JSON.parse(await readFile(join(dir, "asked.json"), "utf8"));
    expect(asked).toMatchObject({ manifest: { dependencies: GOOD.packages }, env: ["PATH"] });
    expect(asked).toMatchObject({ argv: expect.arrayContaining(["--ignore-scripts"]) });
    const { lock } = await readOwnAgent(path);
    expect(lock).toMatchObject({ packages: { "node_modules/mine": { version: "1.2.3" } } });
  });

  test("of a tree that is not of packages alone is not written", async () => {
    const linked = { "node_modules/mine": { resolved: "../x", link: true } };
    const env = await fakeNpm({ lockfileVersion: 3, packages: linked });
    const path = await write("a.json", GOOD);
    const { signal } = new AbortController();
    await expect(lockAgentFile(path, { env, signal })).rejects.toThrow(/cannot be locked/u);
    await expect(readFile(join(dir, "a.lock.json"))).rejects.toThrow(/ENOENT/u);
  });
});

describe("a run with an agent's file", () => {
  test("is of that agent, by its name, and refuses another one", async () => {
    await write("a.yaml", JSON.stringify({ ...GOOD, packages: {}, argv: ["mine"] }));
    const typed = someSettings({ agentFile: "a.yaml", agent: "claude-agent-acp" });
    const settings = await nameOwnFiles(typed, dir);
    expect(settings).toMatchObject({ agent: "mine", agentFile: join(dir, "a.yaml") });
    expect(await chooseRunAgent(settings)).toMatchObject({ name: "mine" });
    await expect(nameOwnFiles({ ...typed, agent: "m" }, dir)).resolves.toMatchObject(settings);
    await expect(nameOwnFiles({ ...typed, agent: "codex" }, dir)).rejects.toThrow(
      "-a codex is not the agent of --agent-file, mine",
    );
  });

  test("is another measurement when the agent or its tree is another", async () => {
    const path = await write("a.json", GOOD);
    const digests = new Set<string>();
    for (const [over, packages] of [
      [{}, LOCK.packages],
      [{ env: { ...GOOD.env, MY_MODE: "fast" } }, LOCK.packages],
      [{}, { ...LOCK.packages, "node_modules/z": { version: "1.0.0", integrity: SHA } }],
    ] as const) {
      await write("a.json", { ...GOOD, ...over });
      await write("a.lock.json", { ...LOCK, packages });
      const agent = await chooseRunAgent(someSettings({ agent: "mine", agentFile: path }));
      digests.add(digestOwnFile(agent.ownFile ?? {}, sha256));
    }
    expect(digests.size).toBe(3);
  });
});
