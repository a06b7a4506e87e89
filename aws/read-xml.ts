const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&apos;": "'",
};

/**
 * The contents of every element of that name in an answer of S3. Enough for it: no
 * element that we ask for has attributes that matter, or lies in another of its own name.
 */
export function elementsOf(xml: string, name: string): string[] {
  const element = new RegExp(`<${name}(?:\\s[^>]*)?>(.*?)</${name}>`, "gsu");
  return [...xml.matchAll(element)].map(([, content = ""]) => content);
}

/** The text of the first such element; null when there is none. */
export function textOf(xml: string, name: string): string | null {
  const [first] = elementsOf(xml, name);
  return first === undefined ? null : unescapeXml(first);
}

function unescapeXml(text: string): string {
  return text.replaceAll(/&(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-f]{1,6});/giu, (entity) => {
    const named = ENTITIES[entity.toLowerCase()];
    if (named !== undefined) return named;
    const isHex = entity[2] === "x" || entity[2] === "X";
    const digits = entity.slice(isHex ? 3 : 2, -1);
    return String.fromCodePoint(Number.parseInt(digits, isHex ? 16 : 10));
  });
}
