import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type OrdinaryUser, makeOrdinaryUser } from "../../../setup/ordinary-user.ts";
import { bundleFor } from "./bundle-for.ts";

const REFUSE_USER = fileURLToPath(new URL("../refuse-user.ts", import.meta.url));
const HIDE_NEWUIDMAP = 'mount --bind /dev/null /usr/bin/newuidmap && exec "$@"';
/** Only a program that is started once the ids are mapped has the powers of the namespace's root. */
const CLOSE_NAMESPACES =
  'read -r _; exec /bin/sh -c \'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"\' sh "$@"';

/** The refusal's two lines, as `bench` prints them. */
function refusal(detail: string, next: string): string {
  return `unavailable: local sandboxes do not work here: ${detail}\n  next: ${next}\n`;
}

const stateOf = (who: OrdinaryUser): string => join(who.home, "state");

describe("local sandboxes that an ordinary user cannot have", () => {
  let user: OrdinaryUser;
  let poorUser: OrdinaryUser;
  const programs = new Map<OrdinaryUser, string>();

  beforeAll(() => {
    user = makeOrdinaryUser();
    poorUser = makeOrdinaryUser({ subordinateIds: false });
    for (const each of [user, poorUser]) programs.set(each, bundleFor(each, REFUSE_USER));
  });

  afterAll(() => {
    for (const each of [user, poorUser]) each.remove();
  });

  const argvOf = (who: OrdinaryUser): [string, ...string[]] => {
    const [first, ...words] = who.behind({ cgroups: false });
    return [first, ...words, process.execPath, programs.get(who) ?? "", stateOf(who)];
  };

  function open(argv: readonly [string, ...string[]]): string {
    const [program, ...args] = argv;
    const { stdout, stderr } = spawnSync(program, args, { encoding: "utf8", env: user.env });
    return stdout + stderr;
  }

  test("have no subordinate ids to give the agent", () => {
    const said = open(argvOf(poorUser));
    const [, range = ""] = /--add-subuids (\d+-\d+) /u.exec(said) ?? [];
    expect(said).toBe(
      refusal(
        `this is uid ${String(poorUser.uid)}, which has no 65536 subordinate uids and gids (/etc/subuid, /etc/subgid) to give the agent one of them`,
        `\`sudo usermod --add-subuids ${range} --add-subgids ${range} ${poorUser.name}\`, or run as root, or use \`--env docker\``,
      ),
    );
  });

  test("miss the program that maps them", () => {
    expect(
      open(["unshare", "--mount", "/bin/sh", "-c", HIDE_NEWUIDMAP, "sh", ...argvOf(user)]),
    ).toBe(
      refusal(
        `this is uid ${String(user.uid)}, and without newuidmap it can give the agent no uid of its own`,
        "`sudo apt-get install -y uidmap`, or run as root, or use `--env docker`",
      ),
    );
  });

  test("are on a machine that closes user namespaces to them", async () => {
    // The switch is one of each user namespace: this one maps every id to itself, and is thrown away.
    const child = spawn(
      "unshare",
      ["--user", "/bin/sh", "-c", CLOSE_NAMESPACES, "sh", ...argvOf(user)],
      { env: user.env, stdio: ["pipe", "pipe", "inherit"] },
    );
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
    await untilInNamespace(child.pid ?? 0);
    for (const kind of ["uid", "gid"])
      writeFileSync(`/proc/${String(child.pid)}/${kind}_map`, "0 0 4294967295\n");
    child.stdin.end("\n");
    await once(child, "close");
    expect(said).toBe(
      refusal(
        `this is uid ${String(user.uid)}, and user namespaces are closed to it (user.max_user_namespaces is 0)`,
        "`sudo sysctl -w user.max_user_namespaces=10000`, or run as root, or use `--env docker`",
      ),
    );
  });

  test("are asked for by a program that has not entered the user's namespace", () => {
    expect(open(argvOf(user))).toBe(
      refusal(
        `this is uid ${String(user.uid)}, outside of its user namespace, which \`bench\` enters by itself and a program of yours does not`,
        "start the program behind `unshare --user --map-auto --map-root-user`",
      ),
    );
  });

  test("are refused before anything is made", () => {
    for (const each of [user, poorUser]) {
      expect(open(argvOf(each))).toMatch(/^unavailable: /u);
      expect(existsSync(stateOf(each))).toBe(false);
    }
  });
});

async function untilInNamespace(pid: number): Promise<void> {
  const own = readlinkSync("/proc/self/ns/user");
  while (readlinkSync(`/proc/${String(pid)}/ns/user`) === own) await delay(5);
}
