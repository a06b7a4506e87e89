/** What a command may touch of the world it was started in. Tests build their own. */
export interface CliContext {
  /** The words after `bench`, as they were typed. */
  readonly args?: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** For results. */
  readonly out: Output;
  /** For everything else. */
  readonly err: Output;
  /** Aborted by the first Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal;
  /** Runs this same command line again behind other words, to its end; absent where there is none. */
  readonly restart?: (words: readonly [string, ...string[]]) => Promise<ExitCode>;
}

export interface Output {
  write(text: string): void;
  readonly isTerminal: boolean;
  readonly columns: number;
}

/** What a command ends with: 0 done, 1 a trial is unscored or a gate failed (design 11). */
export type ExitCode = 0 | 1 | 2 | 4 | 70 | 130;
