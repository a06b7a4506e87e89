import type { RunSettingsInput } from "../core/model/settings.ts";
import type { ReadValue } from "./flag-values.ts";

/** One flag of `bench run`: how it is typed, what it means, which setting it fills. */
export interface RunFlag {
  /** Commander's notation. */
  readonly flags: string;
  readonly help: string;
  /** Shown by `--help-all` only. */
  readonly hidden?: boolean;
  readonly set: (settings: Draft, value: string, flag: string) => void;
}

/** Settings while flags are being read. */
export type Draft = { -readonly [K in keyof RunSettingsInput]?: RunSettingsInput[K] } & {
  /** Variables of this machine whose values the agent gets, by name. */
  hostVariables?: readonly string[];
};

/** Fills one setting with the flag's value. */
export function into<K extends keyof RunSettingsInput>(
  key: K,
  read: ReadValue<NonNullable<RunSettingsInput[K]>>,
): RunFlag["set"] {
  return (draft, value, flag) => {
    draft[key] = read(value, flag);
  };
}
