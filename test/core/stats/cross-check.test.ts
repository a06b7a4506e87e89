import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import * as z from "zod";
import { expect, test } from "vitest";
import { betaCdf, betaQuantile } from "../../../core/stats/beta-distribution.ts";
import { clopperPearsonInterval } from "../../../core/stats/clopper-pearson.ts";
import { holmAdjust } from "../../../core/stats/holm.ts";
import type { Interval } from "../../../core/stats/interval.ts";
import { varianceParts } from "../../../core/stats/intraclass-correlation.ts";
import { mcNemarTest } from "../../../core/stats/mc-nemar.ts";
import { normalCdf, normalQuantile } from "../../../core/stats/normal-distribution.ts";
import { pairedDifference } from "../../../core/stats/paired-difference.ts";
import { passAtK, passHatK } from "../../../core/stats/pass-at-k.ts";
import { signFlipTest } from "../../../core/stats/sign-flip.ts";
import { clusteredError, correctedClusteredError } from "../../../core/stats/standard-error.ts";
import { studentPValue, studentQuantile } from "../../../core/stats/student-distribution.ts";
import { tInterval } from "../../../core/stats/t-interval.ts";
import { enumerateTasks } from "../../../core/stats/task-bootstrap.ts";
import { wilsonInterval } from "../../../core/stats/wilson.ts";

const IS_SOAK = process.env["BENCH_TEST_SOAK"] !== undefined;
/** What the promise is over; without the soak as many as an installed reference answers in seconds. */
const CASES = IS_SOAK ? 1000 : 30;
const SEED = 853;
const KIT = fileURLToPath(new URL("../../setup/statistics", import.meta.url));
const RELATIVE_ERROR = 1e-9;

const score = fc.constantFrom(0, 0, 1, 1, 0.5, 1 / 3);
const tasks = fc
  .array(fc.array(score, { minLength: 1, maxLength: 5 }), { minLength: 2, maxLength: 8 })
  // Where no task has trials that differ nothing tells how they do.
  .filter((one) => one.some((scores) => new Set(scores).size > 1));
const aCase = fc
  .record({
    trials: fc.integer({ min: 1, max: 2000 }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    nth: fc.double({ min: 0, max: 1, noNaN: true }),
    a: fc.double({ min: 0.5, max: 500, noNaN: true }),
    b: fc.double({ min: 0.5, max: 500, noNaN: true }),
    x: fc.double({ min: 0.001, max: 0.999, noNaN: true }),
    p: fc.double({ min: 0.001, max: 0.999, noNaN: true }),
    z: fc.double({ min: -6, max: 6, noNaN: true }),
    tasks,
    differences: fc
      .array(fc.integer({ min: -1000, max: 1000 }), { minLength: 3, maxLength: 9 })
      .filter((values) => new Set(values).size > 1)
      .map((values) => values.map((value) => value / 1000)),
    first: fc.integer({ min: 0, max: 200 }),
    second: fc.integer({ min: 0, max: 200 }),
    p_values: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 6 }),
    means: fc.array(fc.constantFrom(0, 0.25, 1 / 3, 0.5, 2 / 3, 1), { minLength: 2, maxLength: 5 }),
  })
  .map(({ share, nth, ...one }) =>
    Object.assign(one, {
      passes: Math.round(share * one.trials),
      k: Math.max(1, Math.round(nth * Math.min(one.trials, 100))),
    }),
  );

function ends(interval: Interval | null): number[] {
  return interval === null ? [] : [interval.low, interval.high];
}

function ourAnswer(one: (typeof CASES_ARE)[number]): Record<string, number | null | number[]> {
  const { trials, passes, k, a, b, x, p, z: at, differences } = one;
  const parts = varianceParts(one.tasks);
  return {
    wilson: ends(wilsonInterval(passes, trials)),
    clopper_pearson: ends(clopperPearsonInterval(passes, trials)),
    beta_cdf: betaCdf(a, b, x),
    beta_quantile: betaQuantile(a, b, p),
    normal_cdf: normalCdf(at),
    normal_quantile: normalQuantile(p),
    student_quantile: studentQuantile(trials, p),
    student_p: studentPValue(at, trials),
    t_interval: ends(tInterval(differences)),
    paired_p: pairedDifference(differences)?.pValue ?? null,
    sign_flip: signFlipTest(differences, 0).pValue,
    mcnemar: mcNemarTest(one.first, one.second),
    holm: holmAdjust(one.p_values),
    pass_at_k: passAtK({ trials, passes }, k),
    pass_hat_k: passHatK({ trials, passes }, k),
    clustered: correctedClusteredError(one.tasks),
    miller: clusteredError(one.tasks),
    variance_parts: parts === null ? [] : Object.values(parts),
    resampled: ends(enumerateTasks(one.means, 0.025)),
  };
}

const CASES_ARE = fc.sample(aCase, { numRuns: CASES, seed: SEED });
const Answers = z.array(z.record(z.string(), z.union([z.number(), z.array(z.number())])));

/** The Python that has them, or why there is none. */
function findPython(): { readonly path: string } | { readonly missing: string } {
  try {
    const words = [`${KIT}/venv.sh`, ...(IS_SOAK ? ["up"] : [])];
    return { path: execFileSync("bash", words, { encoding: "utf8", stdio: "pipe" }).trim() };
  } catch (error) {
    const said = String((error as { stderr?: unknown }).stderr ?? error).split("\n");
    return { missing: said.find((line) => line.startsWith("statistics: ")) ?? "no Python here" };
  }
}

test(
  "every number agrees with scipy and statsmodels on random inputs",
  { timeout: 600_000 },
  (context) => {
    const python = findPython();
    if ("missing" in python) {
      context.skip(`${python.missing}; the soak installs them`);
      return;
    }
    const printed = execFileSync(python.path, [`${KIT}/reference.py`], {
      input: JSON.stringify(CASES_ARE),
      encoding: "utf8",
      maxBuffer: 2 ** 28,
    });
    const theirs = Answers.parse(JSON.parse(printed));
    expect(theirs).toHaveLength(CASES);
    for (const [index, one] of CASES_ARE.entries()) {
      for (const [name, ours] of Object.entries(ourAnswer(one))) {
        const expected = [theirs[index]?.[name] ?? []].flat();
        const found = [ours ?? []].flat();
        expect(found, name).toHaveLength(expected.length);
        for (const [at, value] of found.entries()) assertClose(value, expected[at], { name, one });
      }
    }
  },
);

function assertClose(ours: number, theirs: number | undefined, what: object): void {
  const wanted = theirs ?? NaN;
  const error = Math.abs(ours - wanted);
  if (error <= 1e-12 || error <= RELATIVE_ERROR * Math.abs(wanted)) return;
  expect.fail(`${ours} and not ${wanted}: ${JSON.stringify(what)}`);
}
