/**
 * The command line that was typed, as a shell takes it, with `--env local` in place of its own: what to
 * run where there is no Docker (docs/sandboxes-docker.md).
 */
export function sameCommandOnLocal(args: readonly string[]): string {
  const kept: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? "";
    if (word === "--env" || word === "--sandbox") at += 1;
    else if (!/^--(?:env|sandbox)=/u.test(word)) kept.push(word);
  }
  return ["bench", ...kept, "--env", "local"].map(quoteWord).join(" ");
}

/** A word as a shell takes it: as it stands where nothing in it is the shell's, else in single quotes. */
export function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
