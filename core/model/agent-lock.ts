import * as z from "zod";

/** Below the tree's root, one package in another: no way up, no link. */
const PackagePath = z
  .string()
  .max(1024)
  .regex(
    /^(?:node_modules\/(?:@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*)(?:\/node_modules\/(?:@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*)*$/iu,
    "no place of an npm package",
  );

/** One package: where it comes from is the registry's to say, what it is the digest's. */
const LockedPackage = z
  .looseObject({
    version: z.string().min(1),
    integrity: z
      .string()
      .regex(/^sha512-[A-Za-z0-9+/]+={0,2}$/u, "no sha512 digest")
      .optional(),
    /** A part of the package around it, whose digest covers it. */
    inBundle: z.literal(true).optional(),
    /** A folder of this machine, which is no package. */
    link: z.never("a link to a folder").optional(),
    /** An address is never followed. */
    resolved: z.never("an address: `bench agents lock` writes none").optional(),
  })
  .refine(({ integrity, inBundle }) => integrity !== undefined || inBundle === true, {
    error: "no digest",
  });

/**
 * The whole tree of an agent's npm packages (npm's package-lock.json, without addresses), as `bench
 * agents lock` writes it beside the agent's file.
 */
export const AgentLock = z.strictObject({
  lockfileVersion: z.literal(3),
  /** Of the agent's own `packages`: names and exact versions. */
  locks: z.record(z.string(), z.string()),
  packages: z.record(PackagePath, LockedPackage),
});
export type AgentLock = z.infer<typeof AgentLock>;
