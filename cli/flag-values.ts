import { BenchError } from "../core/errors.ts";
import { SkillMode } from "../core/model/settings.ts";

const NEXT = "`bench run --help-all` lists every flag";

/** Turns a flag's text into a value, or says what is wrong with it. `flag` is how it was typed. */
export type ReadValue<T> = (text: string, flag: string) => T;

/** A wrong value of a flag: the flag, the value, the rule (spec 5.3). */
export function wrongValue(flag: string, text: string, rule: string, next = NEXT): BenchError {
  return new BenchError("usage", `${flag} takes ${rule}, not ${quote(text)}`, { next });
}

export const readText: ReadValue<string> = (text, flag) => {
  if (text.trim() === "") throw wrongValue(flag, text, "a value");
  return text;
};

/** A whole number of at least `min`; `1e3`, `0x10`, `3.0` and `+3` are refused. */
export function readWhole(min: number): ReadValue<number> {
  return (text, flag) => {
    const value = Number(text);
    if (!/^-?\d{1,15}$/u.test(text) || value < min)
      throw wrongValue(flag, text, `a whole number of at least ${String(min)}`);
    return value;
  };
}

export const readSeed: ReadValue<number> = (text, flag) => {
  if (!/^-?\d{1,9}$/u.test(text)) throw wrongValue(flag, text, "a whole number of up to 9 digits");
  return Number(text);
};

export const readRate: ReadValue<number> = (text, flag) => {
  const value = Number(text);
  if (!/^\d*\.?\d+$/u.test(text) || value > 1) throw wrongValue(flag, text, "a rate from 0 to 1");
  return value;
};

export const readFactor: ReadValue<number> = (text, flag) => {
  const value = Number(text);
  if (!/^\d*\.?\d+$/u.test(text) || value <= 0 || value > 1000)
    throw wrongValue(flag, text, "a factor above 0, up to 1000");
  return value;
};

/** A number of dollars, tokens, seconds or attempts; that none is negative is the caps' own rule. */
export const readAmount: ReadValue<number> = (text, flag) => {
  if (!/^-?(?:\d{1,12}(?:\.\d{1,9})?|\.\d{1,9})$/u.test(text))
    throw wrongValue(flag, text, "a number such as 20 or 0.5");
  return Number(text);
};

/** Seconds; `0`, `none` and `off` switch the limit off. */
export const readIdleSeconds: ReadValue<number> = (text, flag) => {
  if (text === "none" || text === "off") return 0;
  return readWhole(0)(text, flag);
};

export function readChoice<const T extends string>(choices: readonly T[]): ReadValue<T> {
  return (text, flag) => {
    const found = choices.find((choice) => choice === text);
    if (found === undefined) throw wrongValue(flag, text, `one of ${choices.join(", ")}`);
    return found;
  };
}

/** `NAME=VALUE`, or `NAME` with a null for the value of this machine's variable of that name. */
export const readVariable: ReadValue<readonly [name: string, value: string | null]> = (
  text,
  flag,
) => {
  const at = text.indexOf("=");
  const name = at === -1 ? text : text.slice(0, at);
  // The value may be a secret: it is not shown.
  if (!/^[A-Za-z_]\w*$/u.test(name)) throw wrongValue(flag, name, "NAME=VALUE");
  return [name, at === -1 ? null : text.slice(at + 1)];
};

/** Skills that an agent writes for another one are BenchFlow's third mode, and not built. */
export const readSkillMode: ReadValue<SkillMode> = (text, flag) => {
  if (text === "self-gen")
    throw new BenchError("usage", `${flag} self-gen is not built yet in this edition`, {
      next: "use `--skill-mode with-skill` with skills that are written already",
    });
  return readChoice(SkillMode.options)(text, flag);
};

/** The value as typed, with what a terminal would act on made visible. */
function quote(text: string): string {
  return JSON.stringify(text);
}
