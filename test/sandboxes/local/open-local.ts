import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type {
  Completed,
  PreparedImage,
  Sandbox,
  SandboxRequest,
} from "../../../core/ports/sandbox.ts";
import { identifyProcess } from "../../../host/process-identity.ts";
import { BARE_IMAGE } from "../../../sandboxes/local/image/image-store.ts";
import { LocalSandboxes } from "../../../sandboxes/local/local-sandboxes.ts";
import { runRequest } from "./requests.ts";

export interface OpenLocal {
  readonly backend: LocalSandboxes;
  readonly stateDir: string;
  readonly create: (image?: PreparedImage, overrides?: Partial<SandboxRequest>) => Promise<Sandbox>;
  readonly close: () => Promise<void>;
}

/** Local sandboxes in a state folder of the test's own; `close` ends the sandboxes too. */
export async function openLocal(
  localInclude: readonly string[] = [],
  stateDir = mkdtempSync(join(tmpdir(), "local-test-")),
): Promise<OpenLocal> {
  const backend = await LocalSandboxes.open({ stateDir, localInclude }).catch((error: unknown) => {
    rmSync(stateDir, { recursive: true, force: true });
    throw error;
  });
  const made: Sandbox[] = [];
  return {
    backend,
    stateDir,
    create: async (image = BARE_IMAGE, overrides = {}) => {
      const { sandbox } = runRequest({ process: identifyProcess(), contextDir: "/", digest: "0" });
      const created = await backend.create({ ...sandbox, image, ...overrides });
      made.push(created);
      return created;
    },
    close: async () => {
      await Promise.all(made.map((sandbox) => sandbox.destroy()));
      await backend.close();
      rmSync(stateDir, { recursive: true });
    },
  };
}

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Runs a line of shell inside; stdout and stderr as text. */
export async function run(
  sandbox: Sandbox,
  script: string,
  uid = 0,
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const done: Completed = await sandbox.exec({
    argv: ["/bin/sh", "-c", script],
    uid,
    cwd: "/",
    env: { PATH },
    timeoutMs: 60_000,
  });
  return {
    code: done.exitCode,
    out: new TextDecoder().decode(done.stdout).trim(),
    err: new TextDecoder().decode(done.stderr).trim(),
  };
}
