import * as z from "zod";

/** Arguments of the calls that execd serves, by method. */
export const Calls = z.discriminatedUnion("method", [
  z.object({
    method: z.literal("run"),
    argv: z.array(z.string()).min(1),
    uid: z.int().min(0),
    cwd: z.string(),
    env: z.record(z.string(), z.string()),
    timeoutMs: z.number().nullable(),
  }),
  z.object({ method: z.literal("put"), dir: z.string() }),
  z.object({ method: z.literal("get"), path: z.string() }),
  z.object({ method: z.literal("mark") }),
  z.object({ method: z.literal("kill-user"), uid: z.int().min(0) }),
  z.object({
    method: z.literal("kill-since"),
    marks: z.array(z.string()),
    keepers: z.array(z.string()),
  }),
  z.object({ method: z.literal("stats") }),
  /** What the image set: read before any command has run. */
  z.object({ method: z.literal("describe") }),
  /** Ends every process but execd and its parent, then execd itself. */
  z.object({ method: z.literal("end") }),
]);
export type Calls = z.infer<typeof Calls>;

export const Ran = z.object({ exitCode: z.int(), timedOut: z.boolean() });
export type Ran = z.infer<typeof Ran>;

export const Left = z.object({ left: z.int().min(0) });
export const Marks = z.object({ marks: z.array(z.string()) });
export const Stats = z.object({
  peakMemoryBytes: z.number().nullable(),
  oomKills: z.number().nullable(),
  cpuSeconds: z.number().nullable(),
  diskBytes: z.number().nullable(),
});
export const Description = z.object({
  workdir: z.string(),
  env: z.record(z.string(), z.string()),
});

export const Failed = z.object({
  failure: z.enum(["start-failed", "lost", "not-found", "unsafe-path", "disk-full", "unsupported"]),
  message: z.string(),
});
export type Failed = z.infer<typeof Failed>;

/** Payload of a `taken` frame. */
export const Taken = z.object({ stream: z.enum(["data", "errors"]), bytes: z.int().min(0) });
