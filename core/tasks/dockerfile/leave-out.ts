import type { AddInstruction, CopyInstruction, Instruction } from "./instruction.ts";

/** Names at the top of a task's build context that are no part of its image in a run without skills. */
export const TASK_SKILLS: readonly string[] = ["skills"];

/**
 * A Dockerfile's instruction for a context without some of its top names (`skills` in runs without
 * skills, spec 11.1): `COPY` and `ADD` lose the sources that lie there. Null when nothing is left of
 * it. What names such a path by a variable stays, and fails as any missing file does.
 */
export function leaveOut(each: Instruction, names: readonly string[]): Instruction | null {
  if (each.kind === "ADD") return withSources(each, names);
  return each.kind === "COPY" && each.from === null ? withSources(each, names) : each;
}

/** The sources of an instruction that `leaveOut` takes away, as written. */
export function leftOutSources(each: Instruction, names: readonly string[]): readonly string[] {
  if (each.kind !== "COPY" && each.kind !== "ADD") return [];
  if (each.kind === "COPY" && each.from !== null) return [];
  return each.sources.filter((source) => names.includes(topOf(source)));
}

function withSources<Each extends CopyInstruction | AddInstruction>(
  each: Each,
  names: readonly string[],
): Each | null {
  const sources = each.sources.filter((source) => !names.includes(topOf(source)));
  if (sources.length === each.sources.length) return each;
  return sources.length === 0 && each.files.length === 0 ? null : { ...each, sources };
}

/** `"./skills/a/"` lies in `skills`. */
function topOf(source: string): string {
  const plain = source.replace(/^["']|["']$/gu, "");
  return plain.split("/").find((part) => part !== "" && part !== ".") ?? "";
}
