/** A document that begins with a YAML block between `---` lines. */
export type Frontmatter =
  | {
      readonly kind: "split";
      readonly yaml: string;
      /** What follows, with LF line ends and no blank lines before it. */
      readonly body: string;
    }
  | { readonly kind: "invalid"; readonly line: number; readonly message: string };

/** Splits task.md or verifier.md. The YAML begins on line 2; CRLF is read as LF (spec 6.3). */
export function splitFrontmatter(text: string): Frontmatter {
  const lines = text
    .replace(/^\uFEFF/u, "")
    .replaceAll("\r\n", "\n")
    .split("\n");
  if (lines[0]?.trim() !== "---") {
    return {
      kind: "invalid",
      line: 1,
      message: "the first line is not ---, frontmatter must begin there",
    };
  }
  const end = lines.findIndex((line, at) => at > 0 && line.trim() === "---");
  if (end === -1) {
    return { kind: "invalid", line: 1, message: "the frontmatter has no closing --- line" };
  }
  const body = lines.slice(end + 1).join("\n");
  return { kind: "split", yaml: lines.slice(1, end).join("\n"), body: body.replace(/^\n+/u, "") };
}
