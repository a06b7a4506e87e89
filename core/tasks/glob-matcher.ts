/** What one step of a glob consumes. */
export type GlobToken =
  | { readonly kind: "char"; readonly char: string }
  /** One character; never `/` when `inSegment`. */
  | { readonly kind: "any"; readonly inSegment: boolean }
  /** Any number of characters; never `/` when `inSegment`. */
  | { readonly kind: "star"; readonly inSegment: boolean }
  | { readonly kind: "set"; readonly negated: boolean; readonly ranges: readonly CharRange[] }
  /** Nothing, or any text that ends in `/`. */
  | { readonly kind: "folders" };

export type CharRange = readonly [first: string, last: string];

/**
 * Whether the whole text matches. All positions advance together, so that a hostile pattern such as
 * `*a*a*a*b` costs pattern length times text length; a regular expression could take years.
 */
export function matchGlob(tokens: readonly GlobToken[], text: string): boolean {
  let places = withoutConsuming(tokens, new Set([0]));
  for (const char of text) {
    const next = new Set<number>();
    for (const place of places) addSteps(tokens, place, char, next);
    if (next.size === 0) return false;
    places = withoutConsuming(tokens, next);
  }
  return places.has(tokens.length * 2);
}

/** A place is twice the index of the token to match next, plus 1 in the middle of `folders`. */
function addSteps(
  tokens: readonly GlobToken[],
  place: number,
  char: string,
  next: Set<number>,
): void {
  const index = place >> 1;
  const token = tokens[index];
  if (token === undefined) return;
  const after = (index + 1) * 2;
  switch (token.kind) {
    case "char":
      if (token.char === char) next.add(after);
      return;
    case "any":
      if (!token.inSegment || char !== "/") next.add(after);
      return;
    case "star":
      if (!token.inSegment || char !== "/") next.add(place);
      return;
    case "set":
      if (isInSet(token.ranges, char) !== token.negated) next.add(after);
      return;
    case "folders":
      next.add(index * 2 + 1);
      if (char === "/") next.add(after);
  }
}

function withoutConsuming(tokens: readonly GlobToken[], places: Set<number>): Set<number> {
  for (const place of places) {
    const kind = tokens[place >> 1]?.kind;
    const canSkip = kind === "star" || (kind === "folders" && place % 2 === 0);
    // A set visits what is added while it is iterated.
    if (canSkip) places.add(((place >> 1) + 1) * 2);
  }
  return places;
}

function isInSet(ranges: readonly CharRange[], char: string): boolean {
  const point = char.codePointAt(0) ?? 0;
  return ranges.some(([first, last]) => {
    return (first.codePointAt(0) ?? 0) <= point && point <= (last.codePointAt(0) ?? 0);
  });
}
