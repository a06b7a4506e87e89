import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AgentDefinition } from "../../../core/model/agent-definition.ts";
import { readTar } from "../../../core/tar/read-tar.ts";
import { chooseAgent } from "../../../runner/agents/choose-agent.ts";
import { fillFields, fillingOf, fillText } from "../../../runner/agents/fill-definition.ts";
import { fillFiles, packHome } from "../../../runner/agents/home-files.ts";
import { KNOWN_AGENTS, nodeRecipe, treeRecipe } from "../../../runner/agents/known-agents.ts";
import { manifestOf } from "../../../stores/agents/tree-recipe.ts";
import { someModels, TOKEN } from "../acp/acp-scene.ts";

const PLACES = { home: "/home/agent", workdir: "/app", tree: "/tree", node: "/node" };

function filling(over: { model?: string; effort?: string | null } = {}) {
  const { model = "model-1", effort = null } = over;
  return fillingOf({ models: someModels({ model }), effort, ...PLACES });
}

describe("the words of a definition", () => {
  test("become what they stand for, and braces without a word of ours stay", () => {
    expect(fillText("{origin}/v1 {model} {x} {} {quoted:model}", filling())).toBe(
      'http://127.0.0.1:1/v1 model-1 {x} {} "model-1"',
    );
  });

  test("that are numbers become numbers where they stand alone", () => {
    const fields = { limit: { context: "{contextTokens}", text: "about {contextTokens}" } };
    expect(fillFields(fields, filling())).toEqual({
      limit: { context: 200_000, text: "about 200000" },
    });
  });

  test("stand in keys too", () => {
    expect(fillFields({ "{model}": ["{model}"] }, filling())).toEqual({ "model-1": ["model-1"] });
  });

  test("a model's name, however odd, cannot leave its quotes, nor bring words of its own", () => {
    fc.assert(
      fc.property(fc.string(), (model) => {
        const text = fillText("model = {quoted:model}", filling({ model }));
        expect(JSON.parse(text.slice("model = ".length))).toBe(model);
      }),
    );
    expect(fillText("{model}", filling({ model: "{token}" }))).toBe("{token}");
  });
});

describe("a definition", () => {
  const good = { name: "mine", protocols: ["gemini"], argv: ["x"] };

  test.for([
    ["a version that is no exact one", { packages: { a: "^1.0.0" } }],
    ["a package by address", { packages: { "a/../b": "1.0.0" } }],
    ["a file above the home", { files: [{ path: "../x", content: "" }] }],
    ["a file by absolute path", { files: [{ path: "/etc/x", content: "" }] }],
    ["a variable that is none", { env: { "A=B": "x" } }],
    ["a key that it does not know", { commands: [] }],
    ["no dialect", { protocols: [] }],
    ["no program", { argv: [] }],
  ] as const)("with %s is refused", ([, over]) => {
    expect(AgentDefinition.safeParse(good).success).toBe(true);
    expect(AgentDefinition.safeParse({ ...good, ...over }).success).toBe(false);
  });
});

describe("the agents of this edition", () => {
  test.for(KNOWN_AGENTS)(
    "$definition.name is locked as it is pinned, without addresses",
    (known) => {
      const { definition, lock } = known;
      expect(JSON.stringify(lock).includes('"resolved"')).toBe(false);
      const { lock: text } = manifestOf(treeRecipe(known, "linux/amd64"));
      const { packages } = JSON.parse(text ?? "{}");
      for (const [name, version] of Object.entries(definition.packages))
        expect(packages[`node_modules/${name}`]).toMatchObject({ version });
      const { "": root, ...others } = packages;
      expect(root).toMatchObject({ dependencies: definition.packages });
      for (const [path, entry] of Object.entries<Record<string, unknown>>(others))
        expect(entry["integrity"], path).toMatch(/^sha512-/u);
    },
  );

  test.for(KNOWN_AGENTS)(
    "$definition.name gives its token to files that only it can read",
    async (known) => {
      const files = fillFiles(known.definition.files, filling({ effort: "high" }), true);
      for await (const { header } of readTar(packHome(files, 10_001))) {
        expect(header).toMatchObject({ uid: 10_001, gid: 10_001 });
        expect(header.mode & 0o077).toBe(0);
      }
      for (const { path, text } of files) if (path.endsWith(".json")) JSON.parse(text);
    },
  );

  test("have the token in their environment or their files, and no word left unfilled", () => {
    for (const { definition } of KNOWN_AGENTS) {
      const env = Object.values(definition.env).map((value) => fillText(value, filling()));
      const files = fillFiles(definition.files, filling(), false).map(({ text }) => text);
      const argv = definition.argv.map((word) => fillText(word, filling()));
      const all = [...env, ...files, ...argv].join("\n");
      expect(all, definition.name).toContain(TOKEN);
      expect(argv.join(" "), definition.name).not.toContain(TOKEN);
      expect(all, definition.name).not.toMatch(/\{(?:quoted:)?\w+\}/u);
    }
  });

  test("have names of their own, and the private Node is there for each platform", () => {
    const names = KNOWN_AGENTS.map(({ definition }) => [definition.name, definition.aliases]).flat(
      2,
    );
    expect(new Set(names).size).toBe(names.length);
    for (const platform of ["linux/amd64", "linux/arm64"])
      expect(nodeRecipe(platform)).not.toBeNull();
    expect(nodeRecipe("windows/amd64")).toBeNull();
  });
});

describe("an agent is chosen", () => {
  test.for([
    ["claude", "claude-agent-acp"],
    ["claude-agent-acp", "claude-agent-acp"],
    ["pi", "pi-acp"],
    ["acp:my-agent --acp", "acp"],
    ["oracle", "oracle"],
  ] as const)("%s is %s", ([typed, name]) => {
    expect(chooseAgent(typed).name).toBe(name);
  });

  test.for([
    ["claud", /there is no agent "claud"/u],
    ["openhands", /openhands is not built yet in this edition/u],
    ["acp: ", /names no command/u],
  ] as const)("%s is refused", ([typed, message]) => {
    expect(() => chooseAgent(typed)).toThrow(message);
  });

  test("with an effort only where it has one", () => {
    expect(chooseAgent("codex", { effort: "high" }).name).toBe("codex-acp");
    for (const name of ["opencode", "acp:my-agent", "oracle", "nop"])
      expect(() => chooseAgent(name, { effort: "high" })).toThrow(/no reasoning effort/u);
  });

  test("its exact versions are part of what it is", () => {
    expect(chooseAgent("codex").versions).toEqual({ "@agentclientprotocol/codex-acp": "2.6.0" });
  });
});
