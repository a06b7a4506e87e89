/** What a model of OpenAI's takes of a request, by its name; other vendors' models take everything. */
export interface OpenaiModel {
  /** Thinks, and takes a word for the effort. */
  readonly takesEffort: boolean;
  /** Refuses temperature and top_p. */
  readonly isUnsampled: boolean;
}

const PLAIN = /^(?:chatgpt-4o|gpt-3\.5|gpt-4)/u;
const THINKING = /^(?:o\d|gpt-[5-9]|codex)/u;

export function openaiModel(name: string): OpenaiModel {
  const own = name.slice(name.lastIndexOf("/") + 1);
  return { takesEffort: !PLAIN.test(own), isUnsampled: THINKING.test(own) };
}
