/** What a Claude model takes of a request; Anthropic's models differ by their version. */
export interface ClaudeModel {
  /** Measures its thinking itself and takes a word for the effort; older ones want a number of tokens. */
  readonly isAdaptive: boolean;
  /** Refuses temperature, top_p and top_k. */
  readonly isUnsampled: boolean;
}

const VERSION = /(?:opus|sonnet|haiku|fable|mythos)-(?<major>\d)(?:[.-](?<minor>\d)(?!\d))?/u;

/** By the model's name; one that names no version is taken for a new one. */
export function claudeModel(name: string): ClaudeModel {
  const { major, minor } = VERSION.exec(name)?.groups ?? {};
  // Names of the third generation and before have the version first: `claude-3-7-sonnet`.
  const isOld = /claude-[123]\b/u.test(name);
  const version = isOld ? 3 : Number(major ?? 9) + Number(minor ?? 0) / 10;
  return { isAdaptive: version >= 4.6, isUnsampled: version >= 4.7 };
}
