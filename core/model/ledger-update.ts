import * as z from "zod";

/** The way to a field inside an item: `["leases", "task__1a2b3c4d", "seq"]`. */
const Path = z.array(z.string().min(1)).min(1);

const Scalar = z.union([z.string(), z.number(), z.boolean()]);

/**
 * What must hold for an update to happen. No arithmetic and no functions: each maps to one term of a
 * DynamoDB condition expression, which has none either. A field that is not there equals nothing and
 * is at least nothing.
 */
export const Condition = z.discriminatedUnion("is", [
  z.object({ path: Path, is: z.literal("absent") }),
  z.object({ path: Path, is: z.literal("present") }),
  z.object({ path: Path, is: z.literal("equal"), value: Scalar }),
  z.object({ path: Path, is: z.literal("at-least"), value: z.int() }),
]);
export type Condition = z.infer<typeof Condition>;

/**
 * What an update does. `add` counts a field that is not there as 0. The object that a path leads
 * into must be there, and no path of an update may lie inside another one's: DynamoDB's rules.
 */
export const Change = z.discriminatedUnion("do", [
  z.object({ path: Path, do: z.literal("set"), value: z.json() }),
  z.object({ path: Path, do: z.literal("add"), by: z.int() }),
  z.object({ path: Path, do: z.literal("remove") }),
]);
export type Change = z.infer<typeof Change>;

/** One conditional update of one item. An item that is not there is an empty one. */
export const ItemUpdate = z.object({
  key: z.string().min(1),
  conditions: z.array(Condition),
  changes: z.array(Change).min(1),
});
export type ItemUpdate = z.infer<typeof ItemUpdate>;

/** An item as a store holds it. */
export const LedgerItem = z.record(z.string(), z.json());
export type LedgerItem = z.infer<typeof LedgerItem>;
