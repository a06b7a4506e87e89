import { basename } from "node:path";
import { buildSync } from "esbuild";
import { type OrdinaryUser, giveFile } from "../../../setup/ordinary-user.ts";

/** A program of the tests as one file that the user may read: this checkout may be out of its reach. */
export function bundleFor(user: OrdinaryUser, entryPoint: string): string {
  const { outputFiles } = buildSync({
    entryPoints: [entryPoint],
    bundle: true,
    write: false,
    platform: "node",
    format: "esm",
    logLevel: "error",
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
  });
  const text = outputFiles[0]?.text ?? "";
  return giveFile(user, `${basename(entryPoint, ".ts")}.mjs`, text);
}
