/** One entry of a task's folder, links not followed. `other` is a device, pipe or socket. */
export interface TaskEntry {
  readonly kind: "file" | "folder" | "symlink" | "other";
  readonly sizeBytes: number;
  readonly executable: boolean;
  /** sha256 of a file's bytes, 64 hex digits; "" for everything else. */
  readonly sha256: string;
  /** What a link points to, as it stands there; "" for everything else. */
  readonly target: string;
}

/** What reading a task needs of its folder: every path, and the text of the few files that define it. */
export interface TaskFiles {
  /** The folder's own name. */
  readonly name: string;
  /** By path relative to the task, `/` between parts; empty folders too. */
  readonly entries: ReadonlyMap<string, TaskEntry>;
  /** By the same paths: definitions, prompts, Dockerfile, entry scripts. Absent: not there. */
  readonly texts: ReadonlyMap<string, string>;
}

/** Whether a file, not a link, stands at the path. */
export function hasFile(files: TaskFiles, path: string): boolean {
  return files.entries.get(path)?.kind === "file";
}

/** Whether a folder, not a link to one, stands at the path. */
export function hasFolder(files: TaskFiles, path: string): boolean {
  return files.entries.get(path)?.kind === "folder";
}

/** Entries below a folder, by their path inside it. */
export function entriesBelow(
  files: TaskFiles,
  folder: string,
): readonly (readonly [string, TaskEntry])[] {
  const start = `${folder}/`;
  return Array.from(files.entries)
    .filter(([path]) => path.startsWith(start))
    .map(([path, entry]) => [path.slice(start.length), entry] as const);
}

/** Texts of the files directly in a folder, by file name. */
export function textsIn(files: TaskFiles, folder: string): Readonly<Record<string, string>> {
  const start = `${folder}/`;
  const inside = Array.from(files.texts).filter(([path]) => path.startsWith(start));
  const named = inside.map(([path, text]) => [path.slice(start.length), text] as const);
  return Object.fromEntries(named.filter(([name]) => !name.includes("/")));
}

/** Whether two folders hold the same files, byte for byte. */
export function holdSameFiles(files: TaskFiles, one: string, other: string): boolean {
  const print = (folder: string) => {
    const inside = entriesBelow(files, folder).filter(([, { kind }]) => kind !== "folder");
    const lines = inside.map(([path, { kind, sha256, target }]) => {
      return [path, kind, sha256, target].join("\0");
    });
    return lines.toSorted().join("\n");
  };
  return print(one) === print(other);
}

/** The files whose text `parseTask` and `checkTask` look at. */
export function isTextWanted(path: string): boolean {
  return WANTED.test(path);
}

const WANTED = new RegExp(
  [
    String.raw`^(?:task\.toml|task\.md|instruction\.md)$`,
    String.raw`^prompts/[^/]+\.md$`,
    String.raw`^environment/(?:Dockerfile|\.dockerignore|Dockerfile\.dockerignore)$`,
    String.raw`^(?:tests|verifier)/(?:verifier\.md|[^/]+\.sh)$`,
    String.raw`^(?:solution|oracle)/[^/]+\.sh$`,
  ].join("|"),
  "u",
);
