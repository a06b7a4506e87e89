/** RFC 3986: everything but letters, digits and `-_.~` is escaped. */
export function escapeUri(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/gu, (character) => {
    return `%${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}`;
  });
}
