import { setTimeout as delay } from "node:timers/promises";
import { allPids, killProcess, markOf, type ProcessSight, seeProcess } from "../../processes.ts";

const INIT = 1;
/** How long a search for processes that go on forking takes at most. */
const PATIENCE_MS = 10_000;
const PAUSE_MS = 5;

/** Every process that could run code of its own but execd and the container's first one. */
export function processTable(): ProcessSight[] {
  return allPids()
    .filter((pid) => pid !== INIT && pid !== process.pid)
    .map((pid) => seeProcess(pid))
    .filter((sight) => sight !== null)
    .filter(({ state }) => state !== "ended");
}

/** Which processes a search ends: decided anew at each look, since they may have forked. */
export type Victims = (rows: readonly ProcessSight[]) => readonly ProcessSight[];

/** Kills until two looks in a row find nobody, and resolves to the number then left: 0 is the proof. */
export async function endProcesses(victims: Victims): Promise<number> {
  const until = performance.now() + PATIENCE_MS;
  let left = victims(processTable());
  for (let clean = 0; clean < 2 && performance.now() < until;) {
    for (const { pid } of left) killProcess(pid);
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
    const isKept = (row: ProcessSight): boolean => {
      const seen = new Set<number>();
      for (let each = byPid.get(row.parent); each !== undefined; each = byPid.get(each.parent)) {
        if (keepers.has(markOf(each))) return true;
        // A pid that was given away between two reads could make a ring.
        if (seen.has(each.pid)) return false;
        seen.add(each.pid);
      }
      return false;
    };
    return rows.filter((row) => !older.has(markOf(row)) && !isKept(row));
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
      return row.parent === INIT && !older.has(markOf(row)) && !others.has(row.session);
    });
  };
}
