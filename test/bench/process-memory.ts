import { readFileSync, readdirSync } from "node:fs";

/** Of a process and all below it, in MB (proc(5)). */
export interface ProcessMemory {
  /** Resident, pages that it shares with others counted whole. */
  readonly rssMb: number;
  /** Proportional: of a page that others have mapped too, its share. What the machine has less by it. */
  readonly pssMb: number;
}

export function memoryOf(pid: number): ProcessMemory {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc").filter((each) => /^\d+$/u.test(each))) {
    const parent = fieldOf(`${name}/status`, "PPid");
    if (parent !== null) parents.set(Number(name), parent);
  }
  const isBelow = (each: number): boolean => {
    for (let at: number | undefined = each; at !== undefined && at > 1; at = parents.get(at))
      if (at === pid) return true;
    return false;
  };
  const tree = [...parents.keys()].filter(isBelow);
  const sum = (file: string, field: string): number => {
    const sizes = tree.map((each) => fieldOf(`${String(each)}/${file}`, field) ?? 0);
    return Math.round(sizes.reduce((total, size) => total + size, 0) / 10) / 100;
  };
  return { rssMb: sum("status", "VmRSS"), pssMb: sum("smaps_rollup", "Pss") };
}

/** A number of a file of /proc; null for a process that has ended. */
function fieldOf(file: string, field: string): number | null {
  try {
    const text = readFileSync(`/proc/${file}`, "utf8");
    const found = new RegExp(`^${field}:\\s+(\\d+)`, "mu").exec(text)?.[1];
    return found === undefined ? null : Number(found);
  } catch {
    return null;
  }
}
