/** What the agent and, one day, other roles and a simulated user are told. */
export interface PromptSections {
  readonly prompt: string;
  readonly rolePrompts: Readonly<Record<string, string>>;
  readonly scenePrompts: Readonly<Record<string, string>>;
  readonly userPersona: string | null;
}

const NAME = "prompt|role:[A-Za-z0-9_.-]+|scene:[A-Za-z0-9_.-]+|user-persona";
const HEADING = new RegExp(String.raw`^##[ \t]+(${NAME})[ \t]*$`, "gimu");
const ESCAPED_HEADING = new RegExp(String.raw`^\\(##[ \t]+(?:${NAME})[ \t]*)$`, "gimu");

/**
 * Reads a task.md body (spec 6.3). Without reserved headings all of it is the prompt; with them the
 * `## prompt` section is, else the text before the first heading. Throws a plain `Error` that names a
 * heading which stands there twice.
 */
export function readPromptSections(body: string): PromptSections {
  const headings = Array.from(body.matchAll(HEADING));
  const before = body.slice(0, headings[0]?.index ?? body.length).trim();
  const sections = new Map<string, string>();
  for (const [at, heading] of headings.entries()) {
    const key = sectionKey(heading[1] ?? "");
    if (sections.has(key)) throw new Error(`the heading "## ${key}" stands there twice`);
    const start = heading.index + heading[0].length;
    const text = body.slice(start, headings[at + 1]?.index ?? body.length).trim();
    sections.set(key, text.replaceAll(ESCAPED_HEADING, "$1"));
  }
  const prompt = sections.get("prompt") ?? before.replaceAll(ESCAPED_HEADING, "$1");
  return { prompt, ...otherSections(sections) };
}

/** Files under `prompts/` beat a heading of the same name. Keys of `files` are file names. */
export function withSidecars(
  sections: PromptSections,
  files: Readonly<Record<string, string>>,
): PromptSections {
  const named = new Map<string, string>();
  for (const [file, text] of Object.entries(files)) {
    const key = /^(?:(role|scene)\.(.+)|user-persona)\.md$/u.exec(file);
    if (key === null) continue;
    const [, kind, name] = key;
    named.set(kind === undefined ? "user-persona" : `${kind}:${name ?? ""}`, normalText(text));
  }
  const beside = otherSections(named);
  return {
    prompt: sections.prompt,
    rolePrompts: { ...sections.rolePrompts, ...beside.rolePrompts },
    scenePrompts: { ...sections.scenePrompts, ...beside.scenePrompts },
    userPersona: beside.userPersona ?? sections.userPersona,
  };
}

function otherSections(sections: ReadonlyMap<string, string>): Omit<PromptSections, "prompt"> {
  const ofKind = (kind: string) => {
    const found = Array.from(sections).filter(([key]) => key.startsWith(kind));
    return Object.fromEntries(found.map(([key, text]) => [key.slice(kind.length), text]));
  };
  return {
    rolePrompts: ofKind("role:"),
    scenePrompts: ofKind("scene:"),
    userPersona: sections.get("user-persona") ?? null,
  };
}

/** The kind is lower case, the name after the colon stays as written. */
function sectionKey(heading: string): string {
  const colon = heading.indexOf(":");
  if (colon === -1) return heading.toLowerCase();
  return heading.slice(0, colon).toLowerCase() + heading.slice(colon);
}

function normalText(text: string): string {
  return text.replaceAll("\r\n", "\n").trim();
}
