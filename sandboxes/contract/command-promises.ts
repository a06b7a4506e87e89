import assert from "node:assert/strict";
import {
  assertExit,
  assertFails,
  commandOf,
  isRunning,
  outputOf,
  shell,
  text,
  untilRunning,
} from "./run-in-sandbox.ts";
import { AGENT_UID, type SandboxPromise } from "./sandbox-promise.ts";

/** What `exec` promises about argv, environment, users, exit codes and folders. */
export const commandPromises: readonly SandboxPromise[] = [
  {
    promise: "a command's exit code arrives as it is",
    check: async ({ sharedSandbox }) => {
      const sandbox = await sharedSandbox();
      for (const code of [0, 1, 7, 126, 127, 130, 255])
        assertExit(await sandbox.exec(shell(`exit ${String(code)}`)), code);
    },
  },
  {
    promise: "a command that a signal ends reports 128 plus the signal's number",
    check: async ({ sharedSandbox }) => {
      const sandbox = await sharedSandbox();
      assertExit(await sandbox.exec(shell("kill -TERM $$")), 143);
      assertExit(await sandbox.exec(shell("kill -KILL $$")), 137);
      assertExit(await sandbox.exec(shell("kill -SEGV $$")), 139);
    },
  },
  {
    promise: "a program that is missing ends with 127, one that may not be run with 126",
    check: async ({ sharedSandbox }) => {
      const sandbox = await sharedSandbox();
      assertExit(await sandbox.exec(commandOf(["/no/such/program"])), 127);
      assertExit(await sandbox.exec(commandOf(["no-such-program"])), 127);
      assertExit(await sandbox.exec(commandOf(["/etc/passwd"])), 126);
    },
  },
  {
    promise: "a command whose working folder is missing does not run, and fails as not-found",
    check: async ({ sharedSandbox }) => {
      const sandbox = await sharedSandbox();
      const witness = "/tmp/ran-without-its-folder";
      const command = shell(`touch ${witness}`);
      await assertFails(sandbox.exec({ ...command, cwd: "/no/such/folder" }), "not-found");
      await assertFails(sandbox.exec({ ...command, cwd: "/etc/passwd" }), "not-found");
      assertExit(await sandbox.exec(shell(`test ! -e ${witness}`)), 0);
    },
  },
  {
    promise: "arguments arrive byte for byte, with no shell between",
    check: async ({ sharedSandbox }) => {
      const args = ["a b", "", "$HOME `id` $(id)", "'\"\\", "line\nbreak", "-n", "--", "ü€𝄞", "*"];
      const sandbox = await sharedSandbox();
      const done = await sandbox.exec(
        commandOf(["perl", "-e", 'print join("\\0", @ARGV)', "--", ...args]),
      );
      assertExit(done, 0);
      assert.deepEqual(text(done.stdout).split("\0"), args);
    },
  },
  {
    promise: "the environment is exactly the one that the command gives",
    check: async ({ makeSandbox, image }) => {
      const sandbox = await makeSandbox({ env: { OF_THE_SANDBOX: "1" } });
      // Names that steer loaders, shells and interpreters are data to the backend, not orders.
      const env = {
        PATH: "/usr/bin:/bin",
        TEXT: "two words, 'quotes' \"double\" $HOME\nand a line",
        EMPTY: "",
        LD_LIBRARY_PATH: "/no/such/folder",
        PERL5LIB: "/no/such/folder",
        BASH_ENV: "/no/such/file",
        ENV: "/no/such/file",
        PWD: "/somewhere/else",
        OLDPWD: "/else",
        IFS: "x",
        SHLVL: "7",
      };
      for (const uid of [0, AGENT_UID]) {
        const done = await sandbox.exec(commandOf(["env", "-0"], { env, uid }));
        assertExit(done, 0);
        const seen = text(done.stdout).split("\0").filter(Boolean);
        assert.deepEqual(
          Object.fromEntries(seen.map((entry) => entry.split(/=(.*)/su, 2))),
          env,
          `image env: ${Object.keys(image.env).join(" ")}`,
        );
      }
      assertExit(await sandbox.exec(commandOf(["/usr/bin/env"], { env: {} })), 0);
    },
  },
  {
    promise: "secrets in the environment are in no command line of the sandbox",
    check: async ({ makeSandbox }) => {
      const sandbox = await makeSandbox();
      const secret = "s3cr3t-0f-the-c0mmand";
      const running = sandbox.exec(
        shell("sleep 1", { env: { PATH: "/usr/bin:/bin", KEY: secret } }),
      );
      assert.equal(await isRunning(sandbox, secret), false);
      assertExit(await running, 0);
    },
  },
  {
    promise: "a command runs as the uid asked, in the group of the same number, in no other group",
    check: async ({ sharedSandbox }) => {
      const sandbox = await sharedSandbox();
      for (const uid of [0, 1, AGENT_UID]) {
        const seen = await outputOf(sandbox, "id -u; id -g; id -G", { uid });
        assert.equal(seen, `${String(uid)}\n${String(uid)}\n${String(uid)}`);
      }
    },
  },
  {
    promise: "a command starts in the folder asked",
    check: async ({ sharedSandbox }) => {
      const sandbox = await sharedSandbox();
      await outputOf(sandbox, "mkdir -p '/tmp/a folder/-x'");
      for (const cwd of ["/", "/tmp", "/tmp/a folder/-x"])
        assert.equal(await outputOf(sandbox, "pwd -P", { cwd }), cwd);
    },
  },
  {
    promise: "a set-uid program gives other users no privilege",
    requires: { what: "no_new_privs", holds: (caps) => caps.noNewPrivs },
    check: async ({ sharedSandbox }) => {
      const sandbox = await sharedSandbox();
      await outputOf(
        sandbox,
        "mkdir -p /setuid && cp /usr/bin/id /setuid/id && chmod 4755 /setuid/id",
      );
      assert.equal(await outputOf(sandbox, "/setuid/id -u", { uid: AGENT_UID }), String(AGENT_UID));
      const status = await outputOf(sandbox, "grep NoNewPrivs /proc/self/status", {
        uid: AGENT_UID,
      });
      assert.match(status, /NoNewPrivs:\s*1/u);
    },
  },
  {
    promise: "files of root are out of the other uids' reach",
    requires: { what: "uid of its own for the agent", holds: (caps) => caps.uidSeparation },
    check: async ({ sharedSandbox }) => {
      const sandbox = await sharedSandbox();
      await outputOf(sandbox, "mkdir -m 700 /of-root && echo secret > /of-root/file");
      const uid = AGENT_UID;
      assertExit(await sandbox.exec(shell("cat /of-root/file 2>/dev/null", { uid })), 1);
      assertExit(await sandbox.exec(shell("echo x 2>/dev/null > /usr/bin/planted", { uid })), 2);
      assertExit(await sandbox.exec(shell("kill -9 1", { uid })), 1);
      assertExit(await sandbox.exec(shell("cat /proc/1/environ 2>/dev/null", { uid })), 1);
    },
  },
  {
    promise: "a command gets no descriptor but its three streams, which can be opened by name",
    check: async ({ sharedSandbox }) => {
      const sandbox = await sharedSandbox();
      assert.equal(await outputOf(sandbox, "ls -C -w 200 /proc/$$/fd; true"), "0  1  2");
      for (const uid of [0, AGENT_UID]) {
        const done = await sandbox.exec(
          shell("echo out > /dev/stdout; echo err > /dev/stderr", { uid }),
        );
        assertExit(done, 0);
        assert.equal(text(done.stdout) + text(done.stderr), "out\nerr\n");
      }
    },
  },
  {
    promise: "a command without stdin reads an end at once",
    check: async ({ sharedSandbox }) => {
      const done = await (await sharedSandbox()).exec(commandOf(["cat"], { timeoutMs: 20_000 }));
      assertExit(done, 0);
      assert.equal(done.stdout.byteLength, 0);
    },
  },
  {
    promise: "commands run side by side, each with its own output and exit code",
    check: async ({ sharedSandbox }) => {
      const sandbox = await sharedSandbox();
      const all = await Promise.all(
        Array.from({ length: 8 }, (_, n) =>
          sandbox.exec(
            shell(`echo start ${String(n)}; sleep 0.3; echo end ${String(n)}; exit ${String(n)}`),
          ),
        ),
      );
      all.forEach((done, n) => {
        assertExit(done, n);
        assert.equal(text(done.stdout), `start ${String(n)}\nend ${String(n)}\n`);
      });
    },
  },
  {
    promise: "a daemon that keeps a command's output open does not hold the command, and lives on",
    check: async ({ makeSandbox }) => {
      const sandbox = await makeSandbox();
      const marker = "4711.25";
      const done = await sandbox.exec(
        shell(`setsid sleep ${marker} & echo started`, { timeoutMs: 60_000 }),
      );
      assertExit(done, 0);
      assert.equal(text(done.stdout), "started\n");
      await untilRunning(sandbox, `sleep ${marker}`);
    },
  },
];
