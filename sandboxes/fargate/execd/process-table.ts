import { readFileSync, readdirSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { markOf, seeProcess } from "../../processes.ts";

/** A process of this container, as /proc shows it at one moment. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  readonly uids: readonly number[];
  /** Pid and start: what a `ProcessMark` holds. */
  readonly mark: string;
}

const INIT = 1;
/** How long a search for processes that go on forking takes at most. */
const PATIENCE_MS = 10_000;
const PAUSE_MS = 5;

/** Every process that could run code of its own but execd and the container's first one. */
export function processTable(): ProcessRow[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/u.test(name))
    .map(Number)
    .filter((pid) => pid !== INIT && pid !== process.pid)
    .flatMap((pid) => {
      const sight = seeProcess(pid);
      const kin = kinOf(pid);
      if (sight === null || kin === null || sight.state === "ended") return [];
      return [{ pid, ...kin, uids: sight.uids, mark: markOf(sight) }];
    });
}

function kinOf(pid: number): Pick<ProcessRow, "parent" | "session"> | null {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { parent: Number(fields[1]), session: Number(fields[3]) };
  } catch {
    // It ended between two reads.
    return null;
  }
}

/** Which processes a search ends: decided anew at each look, since they may have forked. */
export type Victims = (rows: readonly ProcessRow[]) => readonly ProcessRow[];

/** Kills until two looks in a row find nobody, and resolves to the number then left: 0 is the proof. */
export async function endProcesses(victims: Victims): Promise<number> {
  const until = performance.now() + PATIENCE_MS;
  let left = victims(processTable());
  for (let clean = 0; clean < 2 && performance.now() < until;) {
    for (const { pid } of left) kill(pid);
    await delay(left.length === 0 ? 0 : PAUSE_MS);
    left = victims(processTable());
    clean = left.length === 0 ? clean + 1 : 0;
  }
  return left.length;
}

/** Everything that is not older than a mark and does not descend from one of its keepers, orphans included. */
export function youngerThan(older: ReadonlySet<string>, keepers: ReadonlySet<string>): Victims {
  return (rows) => {
    const byPid = new Map(rows.map((row) => [row.pid, row]));
    const isKept = (row: ProcessRow): boolean => {
      const seen = new Set<number>();
      for (let each = byPid.get(row.parent); each !== undefined; each = byPid.get(each.parent)) {
        if (keepers.has(each.mark)) return true;
        // A pid that was given away between two reads could make a ring.
        if (seen.has(each.pid)) return false;
        seen.add(each.pid);
      }
      return false;
    };
    return rows.filter((row) => !older.has(row.mark) && !isKept(row));
  };
}

/** What shares the root's session, descends from it, or was started after it and has lost its parents. */
export function treeOf(
  root: number,
  older: ReadonlySet<string>,
  others: ReadonlySet<number>,
): Victims {
  const known = new Set([root]);
  return (rows) => {
    for (let before = 0; before !== known.size;) {
      before = known.size;
      for (const row of rows) {
        const isKin = known.has(row.parent) || row.session === root;
        if (isKin && !others.has(row.pid)) known.add(row.pid);
      }
    }
    return rows.filter((row) => {
      if (known.has(row.pid)) return true;
      return row.parent === INIT && !older.has(row.mark) && !others.has(row.session);
    });
  };
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    const isGone = error instanceof Error && "code" in error && error.code === "ESRCH";
    if (!isGone) throw error;
  }
}
