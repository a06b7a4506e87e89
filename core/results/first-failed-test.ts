import * as z from "zod";
import { parseJson } from "../usage/json-view.ts";
import { oneLine } from "./describe-value.ts";

const Ctrf = z.object({
  results: z.object({
    tests: z.array(
      z.object({ name: z.string(), status: z.string(), message: z.string().nullish().catch(null) }),
    ),
  }),
});

/**
 * `<name> failed: <message>` of the first failing test in a CTRF report, for the failure line of the
 * console (spec 2.8); null when nothing failed or the text is no such report. It never touches the
 * score: the report is written by the tests, and no rule says that it is there.
 */
export function firstFailedTest(ctrf: string): string | null {
  const report = Ctrf.safeParse(parseJson(ctrf));
  if (!report.success) return null;
  const failed = report.data.results.tests.find((test) => test.status === "failed");
  if (failed === undefined) return null;
  const message = oneLine(failed.message ?? "", 200);
  return `${oneLine(failed.name, 120)} failed${message === "" ? "" : `: ${message}`}`;
}
