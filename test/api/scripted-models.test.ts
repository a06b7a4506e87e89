import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { digestOwnFile } from "../../api/digest-own-file.ts";
import { nameScript, readScript, refuseUnscripted } from "../../api/model-script-file.ts";
import { resolveRunModels } from "../../api/run-models.ts";
import { ScriptFile } from "../../core/model/model-script.ts";
import { systemClock } from "../../host/system-clock.ts";
import { chooseAgent } from "../../runner/agents/choose-agent.ts";
import { sha256, someSettings } from "../core/plan/plan-builders.ts";

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "bench-script-"));
});
afterAll(async () => {
  await rm(dir, { recursive: true });
});

const GOOD = { version: 1, tasks: { a: [{ text: "hello" }] } };

/** A file of the test's own, asked for as a person would. */
async function asked(name: string, content: unknown) {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  await writeFile(join(dir, name), text);
  return nameScript(someSettings({ model: `scripted/${name}`, agent: "script-models" }), dir);
}

const named = (...names: string[]) => names.map((name) => ({ name }));

test("a script is named in results by its file's name, wherever it lies", async () => {
  const settings = nameScript(someSettings({ model: "scripted//some/where/solve.json" }), "/cwd");
  expect(settings).toMatchObject({
    model: "scripted/solve.json",
    modelScript: "/some/where/solve.json",
  });
  const below = nameScript(someSettings({ model: "scripted/x/y.yaml" }), "/cwd");
  expect(below).toMatchObject({ model: "scripted/y.yaml", modelScript: "/cwd/x/y.yaml" });
  expect(nameScript(below, "/other")).toEqual(below);
  const model = someSettings({ model: "xiaomi/mimo" });
  expect(nameScript(model, "/cwd")).toBe(model);
});

test.for(["scripted/", "scripted/..", "scripted/a b", "scripted/x/-rf"])(
  "-m %s names no script",
  (model) => {
    expect(() => nameScript(someSettings({ model }), dir)).toThrow(/names no file of a script/u);
  },
);

test("a script needs no key, costs nothing under any cap, and speaks what the agent speaks", async () => {
  const settings = { ...(await asked("free.json", GOOD)), maxCostUsd: 0.01 };
  const deps = { clock: systemClock, modelVariables: {} };
  const models = await resolveRunModels(settings, chooseAgent("gemini"), deps);
  expect(models?.endpoints.map(({ protocol }) => protocol)).toEqual(["gemini"]);
  const query = { provider: "scripted", model: "scripted-model", at: new Date(0) };
  expect(models?.prices.find(query)).toMatchObject({
    source: "script",
    now: { base: { input: 0, output: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 } },
    perCall: 0,
  });
});

test("a task that a script says nothing to is refused before anything is made", async () => {
  const script = await readScript(await asked("some.json", GOOD));
  if (script === null) throw new Error("no script");
  expect(() => refuseUnscripted(script, named("a"))).not.toThrow();
  expect(() => refuseUnscripted(script, named("a", "b", "constructor"))).toThrow(
    "scripted/some.json has no turns for b, constructor",
  );
  const all = await readScript(await asked("all.json", { ...GOOD, turns: [{ text: "x" }] }));
  if (all === null) throw new Error("no script");
  expect(() => refuseUnscripted(all, named("a", "b", "__proto__"))).not.toThrow();
});

test("another script is another measurement, however it is spelled and called", async () => {
  const yaml = "tasks:\n  a:\n    - text: hello\nversion: 1\n";
  const other = { version: 1, tasks: { a: [{ text: "hello!" }] } };
  const digests = await Promise.all(
    [await asked("d.json", GOOD), await asked("d.yaml", yaml), await asked("e.json", other)].map(
      async (settings) => {
        const script = await readScript(settings);
        return script === null ? "" : digestOwnFile(script.file, sha256);
      },
    ),
  );
  expect(digests[0]).toBe(digests[1]);
  expect(digests[0]).not.toBe(digests[2]);
});

test.for([
  ["not JSON", "{", /it is not JSON/u],
  ["another version", { ...GOOD, version: 2 }, /version/u],
  ["a key that nobody knows", { ...GOOD, turn: [] }, /turn/u],
  ["a task without turns", { version: 1, tasks: { a: [] } }, /tasks\.a/u],
  ["tokens below none", { version: 1, turns: [{ usage: { input: -1 } }] }, /input/u],
  ["a status that is none", { version: 1, faults: [{ kind: "status", status: 7 }] }, /status/u],
] as const)("a script with %s is refused with the field", async ([, content, message]) => {
  await expect(readScript(await asked("bad.json", content))).rejects.toThrow(message);
});

test("a script that is missing, a folder or too large is refused by its name alone", async () => {
  const missing = { ...(await asked("ok.json", GOOD)), modelScript: join(dir, "none.json") };
  await expect(readScript(missing)).rejects.toThrow(
    "-m scripted/none.json: it cannot be read (ENOENT)",
  );
  await expect(readScript({ ...missing, modelScript: dir })).rejects.toMatchObject({
    message: expect.stringContaining("it is a folder"),
    next: "docs/scripted-models.md has the shape of the file",
  });
  const large = await asked("large.json", `${JSON.stringify(GOOD)}${" ".repeat(1024 * 1024)}`);
  await expect(readScript(large)).rejects.toThrow(/larger than 1048576 bytes/u);
});

test("the example solves every example task with commands, and nothing else", async () => {
  const examples = join(import.meta.dirname, "../../examples");
  const script = await readScript({
    model: "scripted/solve.json",
    modelScript: join(examples, "scripted/solve.json"),
  });
  expect(Object.keys(script?.file.tasks ?? {}).toSorted()).toEqual([
    "csv-totals",
    "hello-file",
    "log-report",
    "sealed-box",
    "setup-and-health",
    "word-count",
  ]);
  expect(ScriptFile.parse(script?.file).faults).toEqual([]);
});
