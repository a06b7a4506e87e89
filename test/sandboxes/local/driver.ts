import { identifyProcess } from "../../../host/process-identity.ts";
import { LocalSandboxes } from "../../../sandboxes/local/local-sandboxes.ts";
import { runRequest } from "./requests.ts";

/**
 * A program that makes and ends sandboxes and images until it is killed: the test's victim.
 * Arguments: state folder, build context.
 */
const [stateDir = "", contextDir = ""] = process.argv.slice(2);

async function churn(backend: LocalSandboxes, round: number): Promise<void> {
  const request = runRequest({
    process: identifyProcess(),
    contextDir,
    digest: `${String(process.pid)}-${String(round)}`,
  });
  const image = await backend.prepare(request.image);
  const sandbox = await backend.create({ ...request.sandbox, image });
  const command = { uid: 10_001, cwd: "/", env: { PATH: "/usr/bin:/bin" } };
  await sandbox.exec({
    ...command,
    argv: ["/bin/sh", "-c", "setsid sleep 1000 > /dev/null 2>&1 & true"],
  });
  await sandbox.spawn({ ...command, argv: ["sleep", "1000"] });
  process.stdout.write("up\n");
  await sandbox.destroy();
}

const backend = await LocalSandboxes.open({ stateDir, localInclude: [] });
process.stdout.write("open\n");
for (let round = 0; ; round += 2)
  await Promise.all([churn(backend, round), churn(backend, round + 1)]);
