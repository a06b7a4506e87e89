/** Shorter values would match what is no secret. */
const MIN_SECRET_LENGTH = 8;

/**
 * Every form in which a known secret may stand in a text: as it is, escaped for JSON and URLs, hex,
 * base64 and base64url at each of the three positions a longer text may put it (failures C-58). The
 * longest come first, so that no form hides a piece of a longer one.
 */
export function secretForms(secrets: readonly string[]): string[] {
  const forms = new Set<string>();
  for (const secret of secrets) {
    if (secret.length < MIN_SECRET_LENGTH) continue;
    const bytes = Buffer.from(secret, "utf8");
    const hex = bytes.toString("hex");
    const escaped = JSON.stringify(secret).slice(1, -1);
    const percent = hex.replaceAll(/../gu, "%$&");
    for (const form of [
      secret,
      escaped,
      JSON.stringify(escaped).slice(1, -1),
      encodeURIComponent(secret),
      encodeURIComponent(secret).replaceAll(/%../gu, (code) => code.toLowerCase()),
      percent,
      percent.toUpperCase(),
      hex,
      hex.toUpperCase(),
      Array.from(secret).toReversed().join(""),
      ...base64Forms(bytes),
    ])
      forms.add(form);
  }
  return [...forms].toSorted((left, right) => right.length - left.length);
}

/** The characters that depend on the secret alone, whatever stands before and after it. */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    const first = Math.ceil((before * 8) / 6);
    const last = Math.floor((padded.length * 8) / 6);
    return (["base64", "base64url"] as const).map((encoding) =>
      padded.toString(encoding).slice(first, last),
    );
  });
}
