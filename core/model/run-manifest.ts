import * as z from "zod";
import { SealedFile } from "./seal.ts";

/**
 * manifest.json of a cloud run's job: what a copy of its tree holds, so that a sync without change is
 * one request. Written by the aggregate, and a function of the sealed attempts.
 */
export const RunManifest = z.object({
  schema_version: z.literal(1),
  /** Every attempt of the run has its seal: nothing will be added. */
  complete: z.boolean(),
  /** Files of the job itself that no other run of it changes; relative to the job. */
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
