import { BUILT_BACKENDS, type BuiltBackend, openBackend } from "../../api/backends.ts";
import { removeOrphans } from "../../api/remove-orphans.ts";
import { stateDir } from "../../api/state-dir.ts";
import { BenchError } from "../../core/errors.ts";
import type { SandboxBackend, SandboxRecord } from "../../core/ports/sandbox.ts";
import { renderTable } from "../../core/report/console/results-table.ts";
import { systemClock } from "../../host/system-clock.ts";
import type { CliContext, ExitCode } from "../context.ts";

/** `bench sandbox list`: every sandbox of this machine's backends, and whether its owner lives. */
export async function listSandboxes(context: CliContext, json: boolean): Promise<ExitCode> {
  const found: (SandboxRecord & { readonly backend: string })[] = [];
  await withBackends(context, async (backend) => {
    for (const record of await backend.list()) found.push({ ...record, backend: backend.name });
  });
  context.out.write(json ? `${JSON.stringify(found, null, 2)}\n` : renderSandboxes(found));
  return 0;
}

/** `bench sandbox prune`: removes what dead runs left; a living run's sandboxes are never touched. */
export async function pruneSandboxes(context: CliContext, images: boolean): Promise<ExitCode> {
  let removed = 0;
  await withBackends(context, async (backend) => {
    for (const { id, owner } of await removeOrphans(backend, systemClock)) {
      removed += 1;
      context.out.write(
        `removed ${backend.name} ${id} ${owner?.rolloutName ?? ""}\n`.replace(/ \n$/u, "\n"),
      );
    }
    if (images) {
      for (const image of await backend.removeImages())
        context.out.write(`removed ${backend.name} image ${image}\n`);
    }
  });
  context.err.write(`${String(removed)} sandboxes removed\n`);
  return 0;
}

function renderSandboxes(found: readonly (SandboxRecord & { readonly backend: string })[]): string {
  if (found.length === 0) return "no sandboxes\n";
  const rows = found.map(({ backend, id, ownerState, owner, createdAt, expiresAt }) => [
    backend,
    id,
    ownerState,
    owner?.rolloutName ?? "-",
    createdAt,
    expiresAt ?? "-",
  ]);
  const header = ["Env", "Sandbox", "Owner", "Trial", "Created", "Lease ends"];
  return `${renderTable([header, ...rows]).join("\n")}\n`;
}

/** Each backend that works here; one that does not is said and skipped, unless none does. */
async function withBackends(
  context: CliContext,
  work: (backend: SandboxBackend) => Promise<void>,
): Promise<void> {
  const refusals: BenchError[] = [];
  for (const kind of BUILT_BACKENDS) {
    const backend = await openIfThere(context, kind);
    if (backend instanceof BenchError) {
      refusals.push(backend);
      context.err.write(`${kind} is not looked at: ${backend.message}\n`);
      continue;
    }
    try {
      await work(backend);
    } finally {
      await backend.close();
    }
  }
  if (refusals.length === BUILT_BACKENDS.length && refusals[0] !== undefined) throw refusals[0];
}

async function openIfThere(
  context: CliContext,
  kind: BuiltBackend,
): Promise<SandboxBackend | BenchError> {
  try {
    return await openBackend(kind, {
      stateDir: stateDir(context.env),
      localInclude: [],
      env: context.env,
    });
  } catch (error) {
    if (error instanceof BenchError && error.kind === "unavailable") return error;
    throw error;
  }
}
