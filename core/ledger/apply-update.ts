import { BenchError } from "../errors.ts";
import type { Change, Condition, ItemUpdate, LedgerItem } from "../model/ledger-update.ts";

type Json = LedgerItem[string];

/**
 * The items after the updates; null when a condition does not hold, and then nothing happens. What
 * every store must do, here as a function: the stores that have no engine of their own call it.
 * Throws `BenchError` (`bug`) for updates that DynamoDB would refuse as malformed.
 */
export function applyUpdates(
  itemOf: (key: string) => LedgerItem | null,
  updates: readonly ItemUpdate[],
): ReadonlyMap<string, LedgerItem> | null {
  checkUpdates(updates);
  const changed = new Map<string, LedgerItem>();
  for (const { key, conditions, changes } of updates) {
    const item = itemOf(key) ?? {};
    if (!conditions.every((condition) => holds(item, condition))) return null;
    changed.set(key, changes.reduce(applyChange, item));
  }
  return changed;
}

function holds(item: LedgerItem, condition: Condition): boolean {
  const value = valueAt(item, condition.path);
  switch (condition.is) {
    case "absent":
      return value === undefined;
    case "present":
      return value !== undefined;
    case "equal":
      return value === condition.value;
    case "at-least":
      return typeof value === "number" && value >= condition.value;
  }
}

function applyChange(item: LedgerItem, change: Change): LedgerItem {
  const [field, ...rest] = change.path;
  if (field === undefined) throw malformed("an empty path", []);
  const value = ownValue(item, field);
  if (rest.length > 0) {
    if (!isObject(value)) throw malformed("nothing to change inside", change.path);
    return { ...item, [field]: applyChange(value, { ...change, path: rest }) };
  }
  if (change.do === "remove") {
    const { [field]: _removed, ...others } = item;
    return others;
  }
  if (change.do === "set") return { ...item, [field]: change.value };
  if (value !== undefined && typeof value !== "number")
    throw malformed("no number to add to", change.path);
  return { ...item, [field]: (value ?? 0) + change.by };
}

function valueAt(item: LedgerItem, path: readonly string[]): Json | undefined {
  let value: Json | undefined = item;
  for (const field of path) value = isObject(value) ? ownValue(value, field) : undefined;
  return value;
}

/** Own fields only: an attempt may be called `constructor`. */
function ownValue(item: LedgerItem, field: string): Json | undefined {
  return Object.hasOwn(item, field) ? item[field] : undefined;
}

function isObject(value: Json | undefined): value is LedgerItem {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Throws `BenchError` (`bug`) for what DynamoDB would refuse as no transaction. */
export function checkUpdates(updates: readonly ItemUpdate[]): void {
  const keys = new Set(updates.map(({ key }) => key));
  if (keys.size !== updates.length || updates.length === 0 || updates.length > 100)
    throw malformed("no transaction: one to 100 updates, one an item", [...keys]);
  for (const { changes } of updates) {
    const paths = changes.map(({ path }) => path.join("\0")).toSorted();
    // Sorted, a path stands right before the ones that lie inside it.
    const overlap = paths.find((path, at) => `${paths[at + 1] ?? ""}\0`.startsWith(`${path}\0`));
    if (overlap !== undefined) throw malformed("two changes of one field", overlap.split("\0"));
  }
}

function malformed(what: string, path: readonly string[]): BenchError {
  return new BenchError("bug", `ledger update has ${what}: ${path.join(".")}`, {
    next: "report this with the command that was run",
  });
}
