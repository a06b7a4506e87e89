import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The files of ours that are loaded with `entry`, before any `import()` of them. */
async function loadedWith(entry: string): Promise<readonly string[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    format: "esm",
    platform: "node",
    packages: "external",
    tsconfigRaw: {},
    write: false,
    metafile: true,
  });
  const loaded = new Set([entry]);
  for (const file of loaded)
    for (const { path, kind, external } of metafile.inputs[file]?.imports ?? [])
      if (kind === "import-statement" && external !== true) loaded.add(path);
  return [...loaded];
}

test("the version is answered from two files", async () => {
  expect(await loadedWith("cli/main.ts")).toEqual(["cli/main.ts", "core/tool-version.ts"]);
});

test("a control's run begins without the code of agents, models, own files and reports", async () => {
  const loaded = await loadedWith("cli/commands/run.ts");
  expect(loaded).toContain("runner/agents/oracle.ts");
  const late =
    /^(?:runner\/(?:acp|agents\/(?:locks|known-agents|acp-agent)|model-access|proxy\/(?!redact)|scripted-model|translation)|core\/(?:logins|model\/(?:agent-definition|agent-lock|model-script|provider-file)|providers\/resolve-model)|core\/report\/[^/]+\.ts)/u;
  expect(loaded.filter((file) => late.test(file))).toEqual([]);
});
