const MAX_BYTES = 200;
/** Characters that a terminal obeys or that turn the reading direction. */
const INVISIBLE = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/u;

/**
 * Why a folder's name cannot name a task, null when it can. The name becomes a part of file names
 * (`<task>__<8 hex>`), of console lines and of results on other systems.
 */
export function problemOfName(name: string): string | null {
  const sizeBytes = new TextEncoder().encode(name).length;
  if (name === "" || name === "." || name === "..") return "the folder has no name of its own";
  if (name.includes("/") || name.includes("\\")) return "the name holds a slash";
  if (/\p{Surrogate}/u.test(name)) return "the name is not valid Unicode";
  if (INVISIBLE.test(name)) return "the name holds control characters";
  if (sizeBytes > MAX_BYTES) return `the name has ${sizeBytes} bytes, at most ${MAX_BYTES} fit`;
  if (/__[0-9a-f]{8}$/u.test(name))
    return "the name ends like a trial's folder, __ and 8 hex digits";
  return null;
}

/**
 * Names that some file system takes for each other: equal but for case or for how accents are
 * written. Gives each such name one of its twins.
 */
export function findTwins(names: Iterable<string>): ReadonlyMap<string, string> {
  const groups = new Map<string, string[]>();
  for (const name of names) {
    const folded = name.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC");
    const group = groups.get(folded);
    if (group === undefined) groups.set(folded, [name]);
    else group.push(name);
  }
  const twins = new Map<string, string>();
  for (const group of groups.values()) {
    for (const [at, name] of group.entries()) {
      const twin = group[at === 0 ? 1 : 0];
      if (twin !== undefined) twins.set(name, twin);
    }
  }
  return twins;
}
