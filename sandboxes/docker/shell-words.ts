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
