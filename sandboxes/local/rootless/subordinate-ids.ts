/** A line of subuid(5) or subgid(5). */
interface IdRange {
  readonly owner: string;
  readonly start: number;
  readonly count: number;
}

/** Agents' uids and `nobody` must have a place in it. */
const MIN_COUNT = 65_536;
/** Where shadow-utils starts to give ranges away (SUB_UID_MIN of login.defs(5)). */
const FIRST_ID = 100_000;

export interface SubordinateFiles {
  /** Text of /etc/subuid; empty where there is none. */
  readonly subuid: string;
  /** Text of /etc/subgid. */
  readonly subgid: string;
}

/** Whether the user, named by name or number, has a range in both files that is wide enough for a sandbox. */
export function hasSubordinateIds(
  user: { readonly name: string; readonly uid: number },
  files: SubordinateFiles,
): boolean {
  return [files.subuid, files.subgid].every((text) => {
    const first = parseRanges(text).find(
      ({ owner }) => owner === user.name || owner === String(user.uid),
    );
    return first !== undefined && first.count >= MIN_COUNT;
  });
}

/** The command that gives the user a range that nobody has yet. */
export function grantCommand(userName: string, files: SubordinateFiles): string {
  const ranges = [...parseRanges(files.subuid), ...parseRanges(files.subgid)];
  const start = Math.max(FIRST_ID, ...ranges.map((range) => range.start + range.count));
  const range = `${String(start)}-${String(start + MIN_COUNT - 1)}`;
  return `sudo usermod --add-subuids ${range} --add-subgids ${range} ${userName}`;
}

function parseRanges(text: string): IdRange[] {
  return text.split("\n").flatMap((line) => {
    const [, owner, start, count] = /^([^:#\s]+):(\d+):(\d+)\s*$/u.exec(line) ?? [];
    if (owner === undefined) return [];
    return [{ owner, start: Number(start), count: Number(count) }];
  });
}
