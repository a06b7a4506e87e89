import { LocalSandboxes } from "../../../sandboxes/local/local-sandboxes.ts";
import { identifyProcess } from "../../../host/process-identity.ts";
import { BARE_IMAGE } from "../../../sandboxes/local/image/image-store.ts";
import { run } from "./open-local.ts";
import { runRequest } from "./requests.ts";

/** Prints the descriptors that a command in a local sandbox has. Argument: state folder. */
const backend = await LocalSandboxes.open({ stateDir: process.argv[2] ?? "", localInclude: [] });
const { sandbox: request } = runRequest({
  process: identifyProcess(),
  contextDir: "/",
  digest: "0",
});
const sandbox = await backend.create({ ...request, image: BARE_IMAGE });
const { out } = await run(sandbox, "ls /proc/$$/fd; true");
process.stdout.write(`${out.split("\n").join(" ")}\n`);
await sandbox.destroy();
await backend.close();
