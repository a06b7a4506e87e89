import { BenchError } from "../../core/errors.ts";
import { CloudRun } from "../../core/model/cloud-work.ts";
import type { ObjectStore } from "../../core/ports/object-store.ts";
import { readObject } from "./object-body.ts";
import type { RunLayout } from "./run-layout.ts";

/**
 * What a run was asked to do; null when there is no such run. Throws `BenchError` (`unavailable`) where
 * something else lies in its place.
 */
export async function readRun(store: ObjectStore, layout: RunLayout): Promise<CloudRun | null> {
  const bytes = await readObject(store, layout.plan);
  if (bytes === null) return null;
  try {
    return CloudRun.parse(JSON.parse(new TextDecoder().decode(bytes)));
  } catch (cause) {
    throw new BenchError("unavailable", `${layout.plan} is no plan of a run`, {
      next: "use the version of bench that started the run; when it stays so, the run's data is damaged",
      cause,
    });
  }
}
