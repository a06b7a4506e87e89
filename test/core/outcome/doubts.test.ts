import { expect, test } from "vitest";
import type { TrialRecord } from "../../../core/model/record.ts";
import {
  endedProcessesNote,
  lackedTool,
  lostProcesses,
  MISSING_TOOL_NOTE,
} from "../../../core/outcome/doubts.ts";
import { aRecord } from "../results/a-record.ts";

function noted(notes: string[], reward = 0): TrialRecord {
  const isolation = {
    backend: "local" as const,
    image: "host",
    image_digest: null,
    platform: "linux/amd64",
    uid_separation: true,
    no_new_privs: true,
    network_agent: "closed",
    network_verifier: "closed",
    seccomp: "docker",
    notes,
    hardening: null,
  };
  return { ...aRecord({ reward }), isolation };
}

test("a zero is doubtful for what its notes say, and for nothing else", () => {
  const [tool, left] = [noted(["x", MISSING_TOOL_NOTE]), noted([endedProcessesNote(12)])];
  expect([lackedTool(tool), lostProcesses(tool)]).toEqual([true, false]);
  expect([lackedTool(left), lostProcesses(left)]).toEqual([false, true]);
  for (const record of [aRecord({ reward: 0 }), noted([]), noted(["processes that were left"])])
    expect([lackedTool(record), lostProcesses(record)]).toEqual([false, false]);
});

test("only a zero is doubtful: a reward that was earned is not, nor a trial without one", () => {
  const notes = [MISSING_TOOL_NOTE, endedProcessesNote(1)];
  const { outcome } = aRecord({ unscored: "no_verdict" });
  const unscored = { ...noted(notes), outcome };
  for (const record of [noted(notes, 1), noted(notes, 0.5), unscored])
    expect([lackedTool(record), lostProcesses(record)]).toEqual([false, false]);
});
