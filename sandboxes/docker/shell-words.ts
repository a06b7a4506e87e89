/**
 * Quotes a string for a POSIX shell so that it stays one word, byte for byte, on one line: the
 * supervisor's variable BENCH_NL holds the newline that a line protocol cannot carry.
 */
export function quoteWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`).replaceAll("\n", `'"$BENCH_NL"'`)}'`;
}

export function quoteWords(words: readonly string[]): string {
  return words.map(quoteWord).join(" ");
}

/** Whether a name can be a shell's variable: others cannot be exported by the shells that start commands. */
export function isVariableName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/u.test(name);
}

const RUN_BYTES = 64;
/** Short octal forms but for the last one, behind which a digit may stand. */
const RUN_OF_NULS = `${"\\0".repeat(RUN_BYTES - 1)}\\000`;
const RUN_NAME = "BENCH_NULS";

/**
 * A shell's command that prints these bytes, in printable ASCII on one line. Runs of NULs, of which
 * archives are full, take little room. `printf` must be the shell's own: then the bytes are in no
 * command line.
 */
export function printfCommand(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let index = 0; index < bytes.byteLength;) {
    if (isRunOfNuls(bytes, index)) {
      parts.push(`$\{${RUN_NAME}}`);
      index += RUN_BYTES;
    } else {
      parts.push(formatByte(bytes[index] ?? 0, bytes[index + 1]));
      index += 1;
    }
  }
  return `${RUN_NAME}='${RUN_OF_NULS}'; printf "${parts.join("")}"`;
}

function isRunOfNuls(bytes: Uint8Array, start: number): boolean {
  if (start + RUN_BYTES > bytes.byteLength) return false;
  for (let index = start; index < start + RUN_BYTES; index += 1)
    if (bytes[index] !== 0) return false;
  return true;
}

/**
 * What a double-quoted format of printf takes as it is: printable, and nothing to shell or printf, which
 * may take a dash for an option.
 */
const PLAIN = /^[ !#&-,./-[\]^_a-z{|}~]$/u;

function formatByte(byte: number, next: number | undefined): string {
  const text = String.fromCodePoint(byte);
  if (PLAIN.test(text)) return text;
  const octal = byte.toString(8);
  const isDigitNext = next !== undefined && next >= 0x30 && next <= 0x39;
  return `\\${isDigitNext ? octal.padStart(3, "0") : octal}`;
}
