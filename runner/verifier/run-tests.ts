import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Sandbox } from "../../core/ports/sandbox.ts";
import type { HardenedSandbox } from "./harden-sandbox.ts";
import type { KeptOutput } from "./kept-output.ts";
import { verifierEnvironment } from "./verifier-environment.ts";
import type { VerifyRequest } from "./verify-request.ts";

export interface TestRun {
  readonly exitCode: number;
  readonly timedOut: boolean;
}

/** One stream, so that output and errors stay in order; then the task's own line, as an argument. */
const RUN_SCRIPT = 'exec 2>&1; cd "$1" || exit 126; exec /bin/sh -c "$2"';

/** Runs the task's tests once, under their time limit, as their user, in the hardened environment. */
export async function runTests(
  sandbox: Sandbox,
  request: VerifyRequest,
  { hardened, output }: { hardened: HardenedSandbox; output: KeptOutput },
): Promise<TestRun> {
  const facts = await readTestFacts(request);
  const testsDir = `/${request.placement}`;
  const environment = verifierEnvironment({
    path: hardened.path,
    pythonPath: hardened.pythonPath,
    home: hardened.home,
    isFedora: hardened.isFedora,
    imagePlugins: hardened.imagePlugins,
    declaredPlugins: request.pytestPlugins,
    usesUv: facts.usesUv,
    usesCtrf: facts.usesCtrf,
    testsDir,
    caches: hardened.caches,
    imageEnv: request.imageEnv,
    taskEnv: request.env,
  });
  const { cwd, line } = placeCommand(request, facts.hasDocument);
  const { exitCode, timedOut } = await sandbox.exec({
    argv: ["/bin/sh", "-c", RUN_SCRIPT, "sh", cwd, line],
    uid: hardened.uid,
    cwd: "/",
    env: environment,
    timeoutMs: request.timeoutMs,
    // Every byte goes to `output`, which keeps its own bounds.
    maxOutputBytes: 2,
    onOutput: (_stream, chunk) => {
      output.take(chunk);
    },
    signal: request.signal,
  });
  return { exitCode, timedOut };
}

/**
 * A plain test.sh runs in the workspace, as every Harbor task expects; a command of verifier.md runs
 * in the verifier's own folder (spec 6.5).
 */
function placeCommand(
  { command, placement, workdir }: VerifyRequest,
  hasDocument: boolean,
): { readonly cwd: string; readonly line: string } {
  return command === "./test.sh" && !hasDocument
    ? { cwd: workdir, line: `/${placement}/test.sh` }
    : { cwd: `/${placement}`, line: command };
}

interface TestFacts {
  readonly hasDocument: boolean;
  readonly usesUv: boolean;
  readonly usesCtrf: boolean;
}

/** What the task's own scripts say about how they call pytest. They are the task's, not the agent's. */
async function readTestFacts(request: VerifyRequest): Promise<TestFacts> {
  const script = await readFile(join(request.testsDir, "test.sh"), "utf8").catch(
    // A verifier without a test.sh is run by its own command.
    () => "",
  );
  const text = `${request.command}\n${script}`;
  return {
    hasDocument: await exists(join(request.testsDir, "verifier.md")),
    usesUv: /\buvx\b|\buv\s+(?:run|tool\s+run)\b/u.test(text),
    usesCtrf: /--ctrf\b/u.test(text),
  };
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
