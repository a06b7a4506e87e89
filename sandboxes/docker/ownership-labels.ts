import { randomBytes } from "node:crypto";
import type { SandboxOwner } from "../../core/ports/sandbox.ts";

/** Marks every container that a run makes; nothing without it is ever touched. */
export const OWNED_LABEL = "benchflow.owned";

/** On what belongs to a sandbox without being one: the sandbox's name without its lease. */
export const SERVES_LABEL = "benchflow.serves";

/** What that label says of a helper that is for all sandboxes of a run. */
export const SERVES_RUN = "the run";

/** A container's labels: who made it, and until when it may live. Labels never change (see `leaseName`). */
export function ownershipLabels(owner: SandboxOwner): Record<string, string> {
  return {
    [OWNED_LABEL]: "true",
    "benchflow.run": owner.runId,
    "benchflow.job": owner.jobName,
    "benchflow.trial": owner.rolloutName,
    "benchflow.owner": owner.process,
    "benchflow.lease_ms": String(owner.leaseMs),
  };
}

/** The owner that labels tell; null where they are not complete. */
export function ownerOf(labels: Readonly<Record<string, string>>): SandboxOwner | null {
  const runId = labels["benchflow.run"];
  const jobName = labels["benchflow.job"];
  const rolloutName = labels["benchflow.trial"];
  const process = labels["benchflow.owner"];
  const leaseMs = Number(labels["benchflow.lease_ms"]);
  if (runId === undefined || jobName === undefined || rolloutName === undefined) return null;
  if (process === undefined || !Number.isFinite(leaseMs)) return null;
  return { runId, jobName, rolloutName, process, leaseMs };
}

/** The fixed part of a container's name. */
export function newSandboxName(): string {
  return `bench-${randomBytes(6).toString("hex")}`;
}

/**
 * A container's whole name: its fixed part and the end of its lease, in milliseconds of the daemon's
 * clock. The name is the one thing of a container that can be changed while it runs, so renewing a
 * lease is a rename, and anyone who lists containers sees the lease as it is now.
 */
export function leaseName(name: string, expiresAtMs: number): string {
  return `${name}-until-${String(Math.round(expiresAtMs))}`;
}

/** The end of the lease that a container's name holds; null for names that hold none. */
export function leaseEndOf(containerName: string): number | null {
  const [, digits] = /-until-(\d{1,15})$/u.exec(containerName) ?? [];
  return digits === undefined ? null : Number(digits);
}
