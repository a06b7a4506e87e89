import * as z from "zod";

const Count = z.int().min(0);

/**
 * What `bench verify --json` prints: whether the files agree with each other and with every number made
 * of them. Consistent is not authentic: whoever wrote the files can have written them all.
 */
export const VerificationReport = z.object({
  kind: z.literal("benchflow.verification"),
  schema_version: z.literal(1),
  /** Null where there is no seal and no card, so that nothing could be checked. */
  consistent: z.boolean().nullable(),
  /** In the order in which they were found: seals, then job files, then the card and the report. */
  differences: z.array(z.object({ file: z.string(), what: z.string() })),
  /** What could not be checked, and why; and files that no seal lists. */
  notes: z.array(z.string()),
  checked: z.object({ jobs: Count, attempts: Count, sealed_files: Count, cards: Count }),
  /** sha256 over all seals, as the card has it; null without a card. */
  root_sha256: z.string().nullable(),
});
export type VerificationReport = z.infer<typeof VerificationReport>;
