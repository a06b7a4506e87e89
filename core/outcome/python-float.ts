/**
 * Python's float(), the grammar that reward.txt has always been read with (spec 6.7): `1e0`, `+1`,
 * `1_0`, `.5`, `5.`, surrounding whitespace and any Unicode decimal digit are numbers; `1,5`, `0x1`,
 * `1__0` and a second word are not. Returns null for what Python refuses; `nan` and `inf` are
 * numbers there too and come back as such.
 */
export function parsePythonFloat(text: string): number | null {
  const trimmed = stripPythonWhitespace(text).replaceAll(/\p{Nd}/gu, decimalDigit);
  if (SPECIAL.test(trimmed)) return special(trimmed.toLowerCase());
  return NUMBER.test(trimmed) ? Number(trimmed.replaceAll("_", "")) : null;
}

/** A number as Python prints it: `1` is `1.0`, 1e16 is `1e+16`, 1e-7 is `1e-07`. */
export function formatPythonFloat(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (Object.is(value, -0)) return "-0.0";
  if (value === 0) return "0.0";
  const magnitude = Math.abs(value);
  if (magnitude >= 1e16 || magnitude < 1e-4) return pythonExponent(value);
  const plain = String(value);
  // JavaScript turns to exponents only below 1e-6 and from 1e21 on, so `plain` has none here.
  return plain.includes(".") ? plain : `${plain}.0`;
}

/** What float() ignores around a number. */
const WHITESPACE =
  "\\t\\n\\v\\f\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const AROUND = new RegExp(`^[${WHITESPACE}]+|[${WHITESPACE}]+$`, "gu");
const SPECIAL = /^[+-]?(?:nan|inf|infinity)$/iu;
const DIGITS = String.raw`\d(?:_?\d)*`;
const NUMBER = new RegExp(
  String.raw`^[+-]?(?:${DIGITS}(?:\.(?:${DIGITS})?)?|\.${DIGITS})(?:[eE][+-]?${DIGITS})?$`,
  "u",
);

/** Text without the whitespace around it that float() ignores. A byte order mark stays. */
export function stripPythonWhitespace(text: string): string {
  return text.replaceAll(AROUND, "");
}

function special(lower: string): number {
  if (lower.endsWith("nan")) return Number.NaN;
  return lower.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

/** Decimal digits stand in runs of ten from zero to nine, so a digit's value is its place in the run. */
function decimalDigit(digit: string): string {
  const codePoint = digit.codePointAt(0) ?? 0;
  if (codePoint < 0x80) return digit;
  let start = codePoint;
  while (/^\p{Nd}$/u.test(String.fromCodePoint(start - 1))) start -= 1;
  return String((codePoint - start) % 10);
}

function pythonExponent(value: number): string {
  const [mantissa = "", exponent = ""] = value.toExponential().split("e");
  const sign = exponent.startsWith("-") ? "-" : "+";
  return `${mantissa}e${sign}${exponent.slice(1).padStart(2, "0")}`;
}
