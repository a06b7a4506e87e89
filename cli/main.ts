#!/usr/bin/env node
import { VERSION } from "../core/tool-version.ts";

// The version is answered before anything else is loaded: scripts ask for it often.
const args = process.argv.slice(2);
if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
  process.stdout.write(`${VERSION}\n`);
} else {
  const { runProcess } = await import("./run-process.ts");
  await runProcess(process, args);
}
