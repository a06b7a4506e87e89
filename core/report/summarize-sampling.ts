import { Sampling } from "../model/exchange.ts";
import type { CardSampling } from "../model/run-card.ts";
import { evidenceOf } from "./report-job.ts";
import type { ReportTrial } from "./setting-groups.ts";

/**
 * What the model requests carried, from the recorded calls and not from what was asked for (spec
 * 1.10): each parameter that some request sent, with how many sent each value.
 */
export function summarizeSampling(trials: readonly ReportTrial[]): CardSampling {
  const recorded = trials.map(samplingOf);
  const requests = recorded.flatMap((sampling) => sampling ?? []);
  const names = Sampling.keyof().options;
  return {
    requests: requests.length,
    trials: recorded.filter((sampling) => (sampling ?? []).length > 0).length,
    unrecorded_trials: recorded.filter((sampling) => sampling === null).length,
    parameters: names.flatMap((name) => parameterOf(name, requests)),
  };
}

/** A trial that used no token sent no request, whatever is recorded. */
function samplingOf({ job, trial: { record } }: ReportTrial): readonly Sampling[] | null {
  const none = record.usage.totalTokens === 0 ? [] : null;
  return evidenceOf(job, record.rolloutName).sampling ?? none;
}

function parameterOf(
  name: keyof Sampling,
  requests: readonly Sampling[],
): CardSampling["parameters"] {
  const counts = new Map<string | number, number>();
  for (const request of requests) {
    const value = request[name];
    if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  if (counts.size === 0) return [];
  const values = [...counts].map(([value, number]) => ({ value, requests: number }));
  const sent = values.reduce((sum, one) => sum + one.requests, 0);
  return [{ name, values: values.toSorted(byUse), not_sent: requests.length - sent }];
}

type UsedValue = CardSampling["parameters"][number]["values"][number];

/** The most used first; equally used ones by their text. */
function byUse(a: UsedValue, b: UsedValue): number {
  return b.requests - a.requests || (String(a.value) < String(b.value) ? -1 : 1);
}
