/** Generated account files: the system accounts that installed programs expect, no person, no password. */
export interface AccountFiles {
  readonly passwd: string;
  readonly group: string;
  readonly shadow: string;
  readonly gshadow: string;
}

const NOBODY = 65_534;
const FIRST_PERSON = 1000;

/**
 * Takes the system accounts (below uid 1000, and nobody) out of the host's public account files and
 * locks each. People, their groups' members and every password stay out.
 */
export function makeAccountFiles(hostPasswd: string, hostGroup: string): AccountFiles {
  const users = accountsOf(hostPasswd, 7, "root:x:0:0:root:/root:/bin/sh");
  const groups = accountsOf(hostGroup, 4, "root:x:0:");
  const names = new Set(users.map(([name = ""]) => name));
  const members = (list: string): string =>
    list
      .split(",")
      .filter((name) => names.has(name))
      .join(",");
  return {
    passwd: lines(
      users.map(([name, , uid, gid, , home, shell]) => [name, "x", uid, gid, "", home, shell]),
    ),
    group: lines(groups.map(([name, , gid, list = ""]) => [name, "x", gid, members(list)])),
    shadow: lines(users.map(([name]) => [name, "*", "19000", "0", "99999", "7", "", "", ""])),
    gshadow: lines(groups.map(([name, , , list = ""]) => [name, "*", "", members(list)])),
  };
}

function accountsOf(text: string, fieldCount: number, root: string): string[][] {
  const accounts = text
    .split("\n")
    .map((line) => line.split(":"))
    .filter(
      (fields) => fields.length === fieldCount && /^[a-z_][a-z0-9_.-]*$/iu.test(fields[0] ?? ""),
    )
    .filter(([, , id]) => isSystemId(Number(id)));
  return accounts.some(([name]) => name === "root") ? accounts : [root.split(":"), ...accounts];
}

function isSystemId(id: number): boolean {
  return Number.isInteger(id) && ((id >= 0 && id < FIRST_PERSON) || id === NOBODY);
}

function lines(rows: readonly (readonly (string | undefined)[])[]): string {
  return rows.map((row) => `${row.map((field) => field ?? "").join(":")}\n`).join("");
}
