import { describe, expect, test } from "vitest";
import {
  type EntranceSources,
  findEntrance,
} from "../../../../sandboxes/local/rootless/find-entrance.ts";

const OPEN: EntranceSources = {
  uid: 1000,
  userName: "ada",
  findTool: (name) => `/usr/bin/${name}`,
  read: (path) => (path.startsWith("/etc/sub") ? "ada:100000:65536\n" : ""),
  tryWords: async () => await Promise.resolve(null),
};

/** The machine's files: each path its text, all others missing. */
function reading(files: Readonly<Record<string, string>>): (path: string) => string {
  return (path) => files[path] ?? OPEN.read(path);
}

const refusing = (complaint: string) => async () => await Promise.resolve(complaint);

describe("findEntrance", () => {
  test("leads behind words that map the user's own ids, and that end with whoever started them", async () => {
    expect(await findEntrance(OPEN)).toEqual({
      kind: "open",
      words: [
        "/usr/bin/unshare",
        "--user",
        "--map-auto",
        "--map-root-user",
        "--",
        "/usr/bin/setpriv",
        "--pdeathsig",
        "KILL",
        "--",
      ],
    });
  });

  test("takes a range by the user's number for the user's", async () => {
    const read = reading({
      "/etc/subuid": "1000:200000:65536",
      "/etc/subgid": "1000:200000:65536",
    });
    expect((await findEntrance({ ...OPEN, read })).kind).toBe("open");
  });

  test.each([
    {
      what: "no newuidmap",
      sources: { findTool: (name: string) => (name === "newuidmap" ? null : `/usr/bin/${name}`) },
      detail: "and without newuidmap it can give the agent no uid of its own",
      next: "`sudo apt-get install -y uidmap`",
    },
    {
      what: "no range of gids",
      sources: { read: reading({ "/etc/subgid": "bob:100000:65536\n" }) },
      detail:
        "which has no 65536 subordinate uids and gids (/etc/subuid, /etc/subgid) to give the agent one of them",
      next: "`sudo usermod --add-subuids 165536-231071 --add-subgids 165536-231071 ada`",
    },
    {
      what: "a range too small for an agent's uid",
      sources: { read: reading({ "/etc/subuid": "# none\nada:100000:1000\n" }) },
      detail:
        "which has no 65536 subordinate uids and gids (/etc/subuid, /etc/subgid) to give the agent one of them",
      next: "`sudo usermod --add-subuids 165536-231071 --add-subgids 165536-231071 ada`",
    },
    {
      what: "AppArmor's switch",
      sources: {
        read: reading({ "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1\n" }),
        tryWords: refusing("mount: /proc: permission denied."),
      },
      detail:
        "and user namespaces are closed to it (kernel.apparmor_restrict_unprivileged_userns is 1)",
      next: "`sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`",
    },
    {
      what: "Debian's switch",
      sources: {
        read: reading({ "/proc/sys/kernel/unprivileged_userns_clone": "0\n" }),
        tryWords: refusing("unshare: unshare failed: Operation not permitted"),
      },
      detail: "and user namespaces are closed to it (kernel.unprivileged_userns_clone is 0)",
      next: "`sudo sysctl -w kernel.unprivileged_userns_clone=1`",
    },
    {
      what: "something else",
      sources: { tryWords: refusing("unshare: unshare failed: Operation not permitted") },
      detail:
        "and user namespaces are closed to it (unshare: unshare failed: Operation not permitted)",
      next: "see to it that `unshare --user --map-auto --map-root-user true` works",
    },
    {
      what: "an unshare that is too old",
      sources: { tryWords: refusing("unshare: unrecognized option '--map-auto'") },
      detail: "and unshare cannot map its uids",
      next: "update util-linux to 2.38 or newer",
    },
  ])("says of $what what it is and the one step", async ({ sources, detail, next }) => {
    expect(await findEntrance({ ...OPEN, ...sources })).toEqual({ kind: "closed", detail, next });
  });
});
