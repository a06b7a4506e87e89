import { identifyProcess } from "../../../host/process-identity.ts";
import { LocalSandboxes } from "../../../sandboxes/local/local-sandboxes.ts";
import { runRequest } from "./requests.ts";

/** Prepares an image and prints its build's lines and its id. Arguments: state folder, context, digest. */
const [stateDir = "", contextDir = "", digest = ""] = process.argv.slice(2);
const backend = await LocalSandboxes.open({ stateDir, localInclude: [] });
const { image } = runRequest({ process: identifyProcess(), contextDir, digest });
const prepared = await backend.prepare({
  ...image,
  onLine: (line) => {
    process.stdout.write(`${line}\n`);
  },
});
process.stdout.write(`${prepared.id}${prepared.builtHere ? " builtHere" : ""}\n`);
await backend.close();
