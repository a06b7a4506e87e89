import { LEDGER_UNITS } from "../model/ledger-amount.ts";
import type { Balance } from "../model/ledger-amount.ts";
import { LedgerItem } from "../model/ledger-update.ts";
import type { Change, Condition } from "../model/ledger-update.ts";

type Path = string[];

export function absent(path: Path): Condition {
  return { path, is: "absent" };
}

export function present(path: Path): Condition {
  return { path, is: "present" };
}

export function equal(path: Path, value: string | number | boolean): Condition {
  return { path, is: "equal", value };
}

/** The amount at `path` has at least so much; units of which nothing is asked are not tested. */
export function atLeast(path: Path, amount: Balance): Condition[] {
  return LEDGER_UNITS.filter((unit) => amount[unit] > 0).map((unit) => ({
    path: [...path, unit],
    is: "at-least",
    value: amount[unit],
  }));
}

export function set(path: Path, value: LedgerItem[string]): Change {
  return { path, do: "set", value };
}

export function remove(path: Path): Change {
  return { path, do: "remove" };
}

export function add(path: Path, by: number): Change[] {
  return by === 0 ? [] : [{ path, do: "add", by }];
}

export function addAmount(path: Path, amount: Balance): Change[] {
  return LEDGER_UNITS.flatMap((unit) => add([...path, unit], amount[unit]));
}

/** A whole new item, as changes of one that is not there. */
export function setFields(item: object): Change[] {
  return Object.entries(jsonOf(item)).map(([field, value]) => set([field], value));
}

/** A shape of the pot as plain JSON; fields that are not there stay so. */
export function jsonOf(value: object): LedgerItem {
  return LedgerItem.parse(value);
}
