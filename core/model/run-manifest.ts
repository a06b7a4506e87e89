import * as z from "zod";
import { SealedFile } from "./seal.ts";

/**
 * manifest.json of a cloud run's job: what a copy of its tree holds, so that a sync without change is
 * one request. Written by the aggregate, and a function of the sealed attempts.
 */
export const RunManifest = z.object({
  schema_version: z.literal(1),
  /** Every planned attempt has ended, sealed or not: nothing will be added. */
  complete: z.boolean(),
  /** The job's own files; relative to the job. */
  files: z.array(SealedFile),
  attempts: z.array(
    z.object({
      rollout_name: z.string(),
      /** Of seal.json, which holds the hashes of all else. */
      seal_sha256: SealedFile.shape.sha256,
    }),
  ),
});
export type RunManifest = z.infer<typeof RunManifest>;
