import { BenchError } from "../../../core/errors.ts";
import { LocalSandboxes } from "../../../sandboxes/local/local-sandboxes.ts";

/** Opens local sandboxes and prints how that was refused. Argument: state folder. */
try {
  await LocalSandboxes.open({ stateDir: process.argv[2] ?? "", localInclude: [] });
  process.stdout.write("opened\n");
} catch (error) {
  if (!(error instanceof BenchError)) throw error;
  process.stdout.write(`${error.kind}: ${error.message}\n  next: ${error.next}\n`);
}
