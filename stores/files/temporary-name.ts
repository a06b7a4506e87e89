import { randomBytes } from "node:crypto";
import { identifyProcess } from "../../host/process-identity.ts";

const PATTERN = /^\.tmp-(\d{1,10})-(\d{1,20})-[0-9a-f]{8}$/u;

const own = startTicks(process.pid) ?? "0";

/** The name of a file or folder while it is written: it says which process writes it. */
export function temporaryName(): string {
  return `.tmp-${process.pid}-${own}-${randomBytes(4).toString("hex")}`;
}

export function isTemporaryName(name: string): boolean {
  return PATTERN.test(name);
}

/**
 * Whether the process that was writing it does not run here any more. One that runs in another
 * container looks dead from here: whoever writes where others tidy up tries again.
 */
export function isLeftBehind(name: string): boolean {
  const [, pid, ticks] = PATTERN.exec(name) ?? [];
  return pid !== undefined && startTicks(Number(pid)) !== ticks;
}

function startTicks(pid: number): string | null {
  const ticks = identifyProcess(pid).split("/").at(-1) ?? "";
  return /^\d+$/u.test(ticks) ? ticks : null;
}
