import { renderResultsNotes, renderResultsTable } from "../../core/report/console/results-table.ts";
import { renderJobDocument, toJobDocument } from "../../core/results/job-document.ts";
import { loadJob } from "../../stores/job-reader/load-job.ts";
import type { CliContext, ExitCode } from "../context.ts";

/** `bench results [JOBS]`: one line a job, or the documented JSON. Reads BenchFlow's own jobs too. */
export async function runResults(
  context: CliContext,
  jobs: string,
  json: boolean,
): Promise<ExitCode> {
  const loaded = await loadJob(jobs);
  if (json) {
    context.out.write(renderJobDocument(toJobDocument(loaded)));
    return 0;
  }
  context.out.write(`${renderResultsTable(loaded).join("\n")}\n`);
  for (const note of renderResultsNotes(loaded)) context.err.write(`${note}\n`);
  return 0;
}
