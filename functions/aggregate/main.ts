import * as z from "zod";
import { containerKeys } from "../../aws/container-keys.ts";
import { S3Client } from "../../aws/s3-client.ts";
import { RunLayout } from "../../stores/objects/run-layout.ts";
import { S3ObjectStore } from "../../stores/s3/s3-object-store.ts";
import { requiredVariable } from "../required-variable.ts";
import { type Aggregated, aggregateRun } from "./aggregate-run.ts";

const Event = z.object({ run: z.string() });

/** The last state of a sweep: every child of its map has ended. */
export async function handler(event: unknown): Promise<Aggregated> {
  const { run } = Event.parse(event);
  const store = new S3ObjectStore(
    new S3Client(process.env, async () => await containerKeys(process.env)),
    requiredVariable(process.env, "BENCH_BUCKET"),
  );
  return await aggregateRun(store, new RunLayout(run));
}
