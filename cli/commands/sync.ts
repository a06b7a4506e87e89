import { syncRun } from "../../api/cloud/sync-run.ts";
import { showSafely } from "../../core/report/console/safe-text.ts";
import type { CliContext, ExitCode } from "../context.ts";

/** `bench sync RUN`: 0 when the run has ended and all of it is here, 1 while something is missing. */
export async function runSync(
  context: CliContext,
  run: string,
  { jobsDir = null, verify = false }: { jobsDir?: string | null; verify?: boolean },
): Promise<ExitCode> {
  const synced = await syncRun({ run, jobsDir, verify }, context.env);
  for (const path of synced.kept)
    context.err.write(`${showSafely(`a file that was changed here is kept as ${path}`)}\n`);
  const { attempts, planned, fetched, jobDir, complete, lacking } = synced;
  const state = complete ? "the run has ended" : "the run goes on, or ended without the others";
  if (lacking > 0) {
    context.err.write(
      `no summary.json is written: ${String(lacking)} results of earlier runs of this job are not here; sync those runs first\n`,
    );
  }
  context.err.write(
    `${String(attempts)} of ${String(planned)} trials have ended, ${String(fetched)} files fetched; ${state}\n`,
  );
  context.out.write(`${showSafely(jobDir)}\n`);
  return complete && attempts === planned && lacking === 0 ? 0 : 1;
}
