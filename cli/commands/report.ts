import { resolve } from "node:path";
import { readRunCard } from "../../api/read-reports.ts";
import { BenchError } from "../../core/errors.ts";
import type { RunCard } from "../../core/model/run-card.ts";
import { renderRunCard } from "../../core/report/build-run-card.ts";
import { renderReport } from "../../core/report/render-report.ts";
import { renderReportCsv } from "../../core/report/render-report-csv.ts";
import { renderReportRc1 } from "../../core/report/render-report-rc1.ts";
import { renderWriteUp } from "../../core/report/render-write-up.ts";
import { writeAtomic } from "../../stores/files/write-atomic.ts";
import type { CliContext, ExitCode } from "../context.ts";

export interface ReportOptions {
  readonly format: string;
  readonly rules: string;
  readonly out?: string;
  readonly writeUp?: boolean;
  readonly seed?: string;
}

/**
 * `bench report [JOBS]`: the report of a job, or of all jobs of a folder by setting, counted anew from
 * the trials. Reads BenchFlow's own jobs too, and writes nothing unless `--out` says where.
 */
export async function runReport(
  context: CliContext,
  jobs: string,
  options: ReportOptions,
): Promise<ExitCode> {
  const render = chooseRenderer(options);
  const text = render(await readRunCard(jobs, readSeed(options.seed)));
  if (options.out === undefined) context.out.write(text);
  else await writeAtomic(resolve(context.cwd, options.out), text, { syncFolder: true });
  return 0;
}

function chooseRenderer({ format, rules, writeUp }: ReportOptions): (card: RunCard) => string {
  if (rules !== "rc1" && rules !== "rc2") {
    throw new BenchError("usage", `--rules ${JSON.stringify(rules)}: there are rc1 and rc2`, {
      next: "leave it out for rc2",
    });
  }
  const asked = [
    ...(writeUp === true ? ["--write-up"] : []),
    ...(rules === "rc1" ? ["--rules rc1"] : []),
    ...(format === "md" ? [] : [`--format ${JSON.stringify(format)}`]),
  ];
  if (asked.length > 1) {
    throw new BenchError("usage", `${asked.join(" and ")}: each is a text of its own`, {
      next: "leave out all but one",
    });
  }
  if (writeUp === true) return renderWriteUp;
  switch (format) {
    case "md":
      return rules === "rc1" ? renderReportRc1 : renderReport;
    case "json":
      return renderRunCard;
    case "csv":
      return renderReportCsv;
    default:
      throw new BenchError("usage", describeFormat(format), {
        next: "`bench report --format md`, json or csv",
      });
  }
}

function describeFormat(format: string): string {
  return format === "html"
    ? "--format html is not built yet in this edition"
    : `--format ${JSON.stringify(format)}: there are md, json and csv`;
}

function readSeed(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seed = Number(text);
  // As `bench run` reads numbers: nothing, `1e3` and `0x10` are none.
  if (/^-?\d{1,10}$/u.test(text) && Math.abs(seed) < 2 ** 31) return seed;
  throw new BenchError("usage", `--seed ${JSON.stringify(text)} is no whole number below 2^31`, {
    next: "leave it out for 0",
  });
}
