import type { CardGroup } from "../model/run-card.ts";
import type { TrialRecord } from "../model/record.ts";
import { compareNames } from "../plan/compare-names.ts";
import { evidenceOf } from "./report-job.ts";
import type { SettingGroup } from "./setting-groups.ts";
import { type GroupOptions, joinPath } from "./group-options.ts";

/** From here on a limit is near. */
const NEAR = 0.9;
const BYTES_PER_MB = 1024 * 1024;

/**
 * Trials that came within 10% of their limit of time or memory: a little more room might change their
 * outcome. Where a limit or a use is unknown that is counted, never taken as room.
 */
export function findHeadroom(
  group: SettingGroup,
  options: GroupOptions,
): Pick<CardGroup, "headroom" | "headroom_unknown"> {
  const uses = group.trials.map(({ job, trial: { record } }) => ({
    trial: joinPath(options.pathOf(job.job.path), record.rolloutName),
    time: timeUse(record, evidenceOf(job, record.rolloutName).agentLimitSec),
    memory: memoryUse(record),
  }));
  const near = uses.flatMap(({ trial, time, memory }) => [
    ...nearest(trial, "time", time),
    ...nearest(trial, "memory", memory),
  ]);
  return {
    headroom: near.toSorted((a, b) => compareNames(a.trial, b.trial)),
    headroom_unknown: uses.filter(({ time, memory }) => time === null || memory === null).length,
  };
}

interface Use {
  readonly used: number;
  readonly allowed: number;
}

function timeUse(record: TrialRecord, limitSec: number | null): Use | null {
  const used = record.timing["agent_execution"];
  return used === undefined || limitSec === null ? null : { used, allowed: limitSec };
}

function memoryUse({ resources }: TrialRecord): Use | null {
  if (resources === null || resources.peak_memory_bytes === null) return null;
  return { used: resources.peak_memory_bytes, allowed: resources.memory_mb * BYTES_PER_MB };
}

function nearest(trial: string, limit: "time" | "memory", use: Use | null): CardGroup["headroom"] {
  if (use === null || use.allowed <= 0 || use.used < NEAR * use.allowed) return [];
  return [{ trial, limit, ...use }];
}
