// Bundles the command line and the library into dist/ with esbuild: ES modules split at every
// `import()`, so that a command loads only its own code. Prints nothing when all is well.
import { createHash } from "node:crypto";
import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));
const fresh = `${root}dist.${process.pid}`;

const shared = {
  define: { BENCH_VERSION_OF_BUILD: JSON.stringify(version) },
  absWorkingDir: root,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  logLevel: "warning",
  // The compiler options are for types alone, and their base is a development package.
  tsconfigRaw: {},
  // CommonJS packages in the bundle ask for `require`.
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
  },
};

await build({
  ...shared,
  entryPoints: ["cli/main.ts", "api/index.ts"],
  outdir: fresh,
  outbase: ".",
  splitting: true,
  chunkNames: "chunks/[hash]",
  sourcemap: "linked",
  // What the cloud alone needs is loaded from its package when it is asked for (docs/decisions).
  external: ["@aws-sdk/*", "aws-cdk-lib", "aws-cdk-lib/*", "constructs", "@aws-cdk/toolkit-lib"],
});
// What runs in the cloud: one file each, named by its hash there.
for (const [name, entry] of [
  ["boot", "functions/boot/main.ts"],
  ["task", "functions/task/main.ts"],
  ["execd", "sandboxes/fargate/execd/main.ts"],
  ["aggregate/index", "functions/aggregate/main.ts"],
]) {
  await build({
    ...shared,
    entryPoints: [entry],
    outfile: `${fresh}/cloud/${name}.mjs`,
    minify: true,
  });
}
chmodSync(`${fresh}/cli/main.js`, 0o755);
writeFileSync(`${fresh}/stamp`, `${createHash("sha256").update(version).digest("hex")}\n`);

// A reader of the old dist/ keeps its open files; a crash in between leaves no half-built dist/.
rmSync(`${root}dist.old`, { recursive: true, force: true });
try {
  renameSync(`${root}dist`, `${root}dist.old`);
} catch (error) {
  if (error.code !== "ENOENT") throw error;
}
renameSync(fresh, `${root}dist`);
rmSync(`${root}dist.old`, { recursive: true, force: true });
