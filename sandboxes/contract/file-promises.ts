import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { assertExit, assertFails, commandOf, outputOf, perl, text } from "./run-in-sandbox.ts";
import { AGENT_UID, type SandboxPromise } from "./sandbox-promise.ts";
import { archiveOf, entry, kindAndName, readArchive } from "./sample-archive.ts";

/** Not UTF-8: a name that an agent can make and a string cannot hold. */
const BYTE_NAME = Buffer.from([0x6e, 0xff, 0xfe, 0x80, 0x0a, 0x20, 0x5c]);

/** What `put` and `get` promise. */
export const filePromises: readonly SandboxPromise[] = [
  {
    promise: "binary content and names that are no UTF-8 come back byte for byte",
    check: async ({ sharedSandbox }) => {
      const sandbox = await sharedSandbox();
      const sent = [
        entry({ kind: "directory", name: "d", mode: 0o755 }),
        entry({ name: "d/empty" }),
        entry({ name: "d/big", content: randomBytes(3_000_001) }),
        entry({ name: Buffer.concat([Buffer.from("d/"), BYTE_NAME]), content: randomBytes(600) }),
        entry({ name: `d/${"long-".repeat(40)}`, content: Buffer.from("x") }),
        entry({ name: "d/ü 𝄞 'quoted' \"twice\" $x", content: Buffer.from("y") }),
      ];
      await sandbox.put(archiveOf(sent), "/round-trip");
      const received = await readArchive(sandbox.get("/round-trip/d"));
      assert.deepEqual(received.map(kindAndName).toSorted(), sent.map(kindAndName).toSorted());
      for (const { header, content } of sent) {
        const twin = received.find((other) => other.header.name.equals(header.name));
        assert.ok(twin?.content.equals(content) === true, `content of ${String(header.name)}`);
        assert.equal(twin?.header.mtimeSeconds, header.mtimeSeconds);
      }
    },
  },
  {
    promise: "owners and modes are kept, set-id and sticky bits too, both ways",
    check: async ({ sharedSandbox }) => {
      const sandbox = await sharedSandbox();
      const sent = [
        entry({ kind: "directory", name: "t", mode: 0o1777, uid: AGENT_UID, gid: 7 }),
        entry({ name: "t/run", mode: 0o6751, uid: 12, gid: AGENT_UID }),
        entry({ name: "t/none", mode: 0 }),
      ];
      await sandbox.put(archiveOf(sent), "/owned");
      const seen = await outputOf(sandbox, "cd /owned && stat -c '%a %u %g' t t/run t/none");
      assert.equal(seen, `1777 ${String(AGENT_UID)} 7\n6751 12 ${String(AGENT_UID)}\n0 0 0`);
      const received = await readArchive(sandbox.get("/owned/t"));
      for (const { header } of sent) {
        const twin = received.find((other) => other.header.name.equals(header.name))?.header;
        assert.deepEqual([twin?.mode, twin?.uid, twin?.gid], [header.mode, header.uid, header.gid]);
      }
    },
  },
  {
    promise: "put replaces files, keeps other files of the folder, and makes missing folders",
    check: async ({ sharedSandbox }) => {
      const sandbox = await sharedSandbox();
      await outputOf(
        sandbox,
        "mkdir -p /replaced && cd /replaced && echo old > a && echo kept > b",
      );
      await sandbox.put(
        archiveOf([
          entry({ name: "a", content: Buffer.from("new\n") }),
          entry({ name: "deep/er/c", content: Buffer.from("deep\n") }),
        ]),
        "/replaced",
      );
      assert.equal(
        await outputOf(sandbox, "cat /replaced/a /replaced/b /replaced/deep/er/c"),
        "new\nkept\ndeep",
      );
      await sandbox.put(archiveOf([entry({ name: "x" })]), "/made/on/the/way");
      assert.equal(
        await outputOf(sandbox, "stat -c '%a %u' /made/on/the/way /made/on"),
        "755 0\n755 0",
      );
    },
  },
  {
    promise: "links are kept as links in both directions, dangling and absolute ones too",
    check: async ({ sharedSandbox }) => {
      const sandbox = await sharedSandbox();
      const sent = [
        entry({ kind: "directory", name: "l", mode: 0o755 }),
        entry({ kind: "symlink", name: "l/absolute", linkName: "/etc/shadow" }),
        entry({ kind: "symlink", name: "l/dangling", linkName: "../../no/where" }),
        entry({ kind: "symlink", name: "l/folder", linkName: "/etc" }),
      ];
      await sandbox.put(archiveOf(sent), "/links");
      assert.equal(
        await outputOf(sandbox, "readlink /links/l/absolute /links/l/folder"),
        "/etc/shadow\n/etc",
      );
      const received = await readArchive(sandbox.get("/links/l"));
      assert.deepEqual(received.map(kindAndName).toSorted(), sent.map(kindAndName).toSorted());
      const link = await readArchive(sandbox.get("/links/l/folder"));
      assert.deepEqual(link.map(kindAndName), ["symlink folder -> /etc"]);
    },
  },
  {
    promise:
      "put follows no link: one in the way of a folder is refused, one in a file's place is replaced",
    check: async ({ sharedSandbox }) => {
      const sandbox = await sharedSandbox();
      await outputOf(
        sandbox,
        "mkdir -p /trap/in /elsewhere && echo safe > /elsewhere/file && ln -s /elsewhere /trap/in/dir && ln -s /elsewhere/file /trap/in/link && ln -s /trap/in /trap/outer",
      );
      const content = Buffer.from("planted\n");
      await assertFails(
        sandbox.put(archiveOf([entry({ name: "dir/file", content })]), "/trap/in"),
        "unsafe-path",
      );
      await assertFails(
        sandbox.put(archiveOf([entry({ name: "new", content })]), "/trap/outer"),
        "unsafe-path",
      );
      await assertFails(
        sandbox.put(archiveOf([entry({ name: "new", content })]), "/trap/in/dir"),
        "unsafe-path",
      );
      await sandbox.put(archiveOf([entry({ name: "link", content })]), "/trap/in");
      assert.equal(await outputOf(sandbox, "cd /elsewhere && ls && cat file"), "file\nsafe");
      assert.equal(
        await outputOf(sandbox, "test ! -L /trap/in/link && cat /trap/in/link"),
        "planted",
      );
    },
  },
  {
    promise: "put follows no link that its own archive made",
    check: async ({ sharedSandbox }) => {
      const sandbox = await sharedSandbox();
      await outputOf(sandbox, "mkdir -p /outside && echo safe > /outside/kept");
      await assertFails(
        sandbox.put(
          archiveOf([
            entry({ kind: "symlink", name: "way", linkName: "/outside" }),
            entry({ name: "way/planted" }),
          ]),
          "/own-link",
        ),
        "unsafe-path",
      );
      await assertFails(
        sandbox.put(
          archiveOf([entry({ kind: "hardlink", name: "hard", linkName: "../outside/kept" })]),
          "/own-link",
        ),
        "unsafe-path",
      );
      assert.equal(await outputOf(sandbox, "ls /outside"), "kept");
    },
  },
  {
    promise: "put refuses names that leave its folder",
    check: async ({ sharedSandbox }) => {
      const sandbox = await sharedSandbox();
      for (const name of ["../escaped", "a/../../escaped", "/escaped", "..", ""])
        await assertFails(sandbox.put(archiveOf([entry({ name })]), "/inner/most"), "unsafe-path");
      assert.equal(
        await outputOf(sandbox, "ls -d /escaped /inner/escaped 2>/dev/null | wc -l"),
        "0",
      );
    },
  },
  {
    promise: "put fails on an archive that is cut short",
    check: async ({ sharedSandbox }) => {
      const sandbox = await sharedSandbox();
      await assert.rejects(sandbox.put(cutArchive(), "/cut"));
    },
  },
  {
    promise: "get of what is not there fails as not-found, get through a link as unsafe-path",
    check: async ({ sharedSandbox }) => {
      const sandbox = await sharedSandbox();
      await assertFails(readArchive(sandbox.get("/no/such/file")), "not-found");
      await assertFails(readArchive(sandbox.get("/etc/passwd/x")), "not-found");
      await outputOf(sandbox, "mkdir -p /through && ln -s /etc /through/link");
      await assertFails(readArchive(sandbox.get("/through/link/passwd")), "unsafe-path");
    },
  },
  {
    promise: "get is stopped by no pipe, and keeps two names of one file as one file",
    check: async ({ sharedSandbox }) => {
      const sandbox = await sharedSandbox();
      await outputOf(
        sandbox,
        "mkdir -p /odd && cd /odd && mkfifo pipe && echo once > one && ln one two",
      );
      const received = await readArchive(sandbox.get("/odd"));
      assert.deepEqual(received.map((item) => item.header.kind).toSorted(), [
        "directory",
        "fifo",
        "file",
        "hardlink",
      ]);
    },
  },
  {
    promise: "get of one file gives that file under its own name",
    check: async ({ sharedSandbox }) => {
      const sandbox = await sharedSandbox();
      await outputOf(sandbox, "mkdir -p /single && printf content > /single/file");
      const [only, ...others] = await readArchive(sandbox.get("/single/file"));
      assert.equal(others.length, 0);
      assert.equal(only && kindAndName(only), "file file");
      assert.equal(text(only?.content ?? new Uint8Array()), "content");
    },
  },
  {
    promise: "get of a tree that changes meanwhile ends, and stays an archive",
    check: async ({ makeSandbox }) => {
      const sandbox = await makeSandbox();
      const churn = await sandbox.spawn(
        commandOf(
          perl(
            'mkdir "/churn"; print "up\\n"; $| = 1; print "up\\n"; while (1) { for my $n (1 .. 50) { open(my $f, ">", "/churn/f$n"); print $f "x" x rand(200000); close $f; unlink "/churn/f" . int(rand(50)); } }',
          ),
        ),
      );
      for await (const chunk of churn.stdout) if (text(chunk).includes("up")) break;
      for (let round = 0; round < 10; round += 1) await readArchive(sandbox.get("/churn"));
      await churn.kill();
    },
  },
  {
    promise: "a put that its reader cannot finish leaves the sandbox usable",
    check: async ({ sharedSandbox }) => {
      const sandbox = await sharedSandbox();
      await assert.rejects(sandbox.put(brokenSource(), "/broken"));
      for await (const chunk of sandbox.get("/usr/bin")) if (chunk.byteLength > 0) break;
      assertExit(await sandbox.exec(commandOf(["true"])), 0);
    },
  },
];

async function* cutArchive(): AsyncGenerator<Uint8Array> {
  let left = 1500;
  for await (const chunk of archiveOf([entry({ name: "f", content: randomBytes(5000) })])) {
    yield chunk.subarray(0, left);
    left -= chunk.byteLength;
    if (left <= 0) return;
  }
}

async function* brokenSource(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(100);
  throw new Error("source broke");
}
