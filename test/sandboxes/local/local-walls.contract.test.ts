import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type OpenLocal, openLocal, run } from "./open-local.ts";

/** Leaves a chroot by the classic way: a second chroot below, an open folder above it, `..`. */
const LEAVE_CHROOT = `mkdir -p /tmp/inner; perl -e 'opendir(my $up, "/"); chroot("/tmp/inner") or die "chroot: $!"; chdir($up) or die; chdir("..") for 1 .. 60; chroot(".") or die; exec "/bin/sh", "-c", $ARGV[0]'`;

describe("the walls of a local sandbox", () => {
  let local: OpenLocal;
  let secrets: string;

  beforeAll(async () => {
    secrets = mkdtempSync(join(tmpdir(), "host-secrets-"));
    writeFileSync(join(secrets, "key"), "the host's secret");
    local = await openLocal();
  });

  afterAll(async () => {
    await local.close();
    rmSync(secrets, { recursive: true });
  });

  test("a root that leaves its chroot finds the host's programs, read-only, and nothing else", async () => {
    const sandbox = await local.create();
    const seen = await run(
      sandbox,
      `${LEAVE_CHROOT} 'ls -A /; ls -A /etc /dev /root /home 2>/dev/null'`,
    );
    expect(seen.code, seen.err).not.toBe(0);
    const listed = await run(sandbox, `${LEAVE_CHROOT} 'ls -A /'`);
    expect(listed.code, listed.err).toBe(0);
    const names = listed.out.split("\n").filter((name) => name !== "box");
    expect(
      names.every((name) =>
        ["bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "dev", "proc", "old"].includes(
          name,
        ),
      ),
      names.join(" "),
    ).toBe(true);
    for (const path of ["/planted", "/usr/bin/planted", "/dev/null"])
      expect((await run(sandbox, `${LEAVE_CHROOT} 'echo x > ${path}'`)).err).toMatch(
        /Read-only file system/u,
      );
    expect((await run(sandbox, `${LEAVE_CHROOT} 'mount -o remount,rw /'`)).code).not.toBe(0);
  });

  test("programs that root inside replaces do not run with the host's power", async () => {
    const sandbox = await local.create();
    const names = ["setpriv", "nsenter", "chroot", "perl", "unshare", "sleep", "env"];
    const plant = names.map(
      (name) =>
        `for dir in /usr/bin /usr/sbin; do [ ! -e $dir/${name} ] || { printf '#!/bin/sh\\ncat /proc/self/status > /planted\\nexit 9\\n' > $dir/${name}; }; done`,
    );
    await run(
      sandbox,
      `${plant.join("; ")}; echo /planted.so > /etc/ld.so.preload; cp /bin/true /planted.so`,
    );
    const after = await run(sandbox, "id -u; test -e /planted || echo nothing was planted");
    expect(after.out).toBe("0\nnothing was planted");
    expect((await run(sandbox, "id -u", 10_001)).out).toBe("10001");
    // A shell of its own it may have: it then runs what it was asked to run, with its own rights.
    const caps = await run(sandbox, "grep CapEff /proc/self/status");
    expect(caps.out).toMatch(/CapEff:\s*00000000a00405fb/u);
  });

  test("a perl that reads on from /dev/null gets nothing from the sandbox's", async () => {
    const sandbox = await local.create();
    await run(
      sandbox,
      `rm -f /dev/null; echo 'open(F, ">/planted"); print F "ran"; close F;' > /dev/null`,
    );
    expect((await run(sandbox, "test ! -e /planted && echo clean")).out).toBe("clean");
  });

  test("what root inside does to devices and account files is not done to the host's", async () => {
    const before = [statSync("/dev/null").mode, readFileSync("/etc/passwd", "utf8")];
    const sandbox = await local.create();
    await run(
      sandbox,
      "chmod 000 /dev/null /dev/tty /proc/self/fd/0 /proc/self/fd/1; useradd intruder; passwd -d root; rm -rf /usr/games /etc/alternatives",
    );
    expect([statSync("/dev/null").mode, readFileSync("/etc/passwd", "utf8")]).toEqual(before);
    expect(statSync("/etc/alternatives").isDirectory()).toBe(true);
  });

  test("the host's accounts, keys, homes and secrets are not inside", async () => {
    const sandbox = await local.create();
    const found = await run(
      sandbox,
      "ls -A /root /home /opt /srv /mnt /media /boot 2>/dev/null | grep -v ':$' | grep .; cut -d: -f2 /etc/shadow | sort -u; ls /etc/ssh/*key* /etc/ssl/private /var/lib/docker /run/docker.sock 2>/dev/null",
    );
    expect(found.out).toBe("*");
    const people = readFileSync("/etc/passwd", "utf8")
      .split("\n")
      .filter((line) => Number(line.split(":")[2]) >= 1000 && !line.startsWith("nobody"));
    for (const line of people)
      expect(
        (await run(sandbox, `grep -q '^${line.split(":")[0] ?? ""}:' /etc/passwd`)).code,
      ).not.toBe(0);
    expect((await run(sandbox, `test -e ${secrets}/key`)).code).not.toBe(0);
    expect((await run(sandbox, "grep -rl 'PRIVATE KEY' /etc 2>/dev/null")).out).toBe("");
    expect((await run(sandbox, "cat /proc/1/environ")).code).not.toBe(0);
  });

  test("system calls that Docker refuses are refused, to root too", async () => {
    const sandbox = await local.create();
    for (const uid of [0, 10_001]) {
      // keyctl, bpf, userfaultfd, open_by_handle_at, io_uring_setup, unshare(CLONE_NEWUSER), then getpid.
      const program =
        process.arch === "x64"
          ? 'printf "%s ", syscall($_->[0], $_->[1], 0, 0, 0, 0) < 0 ? $!+0 : "done" for [250, 0], [321, 0], [323, 0], [304, 0], [425, 0], [272, 0x10000000], [39, 0];'
          : 'printf "%s ", syscall($_->[0], $_->[1], 0, 0, 0, 0) < 0 ? $!+0 : "done" for [219, 0], [280, 0], [282, 0], [265, 0], [425, 0], [97, 0x10000000], [172, 0];';
      expect((await run(sandbox, `perl -e '${program}'`, uid)).out).toBe("1 1 1 1 1 1 done");
      expect((await run(sandbox, "grep Seccomp: /proc/self/status", uid)).out).toMatch(/2$/u);
    }
    expect(sandbox.isolation.seccomp).toBe("docker");
  });

  test("a metadata service on the host is not reached, although the host reaches it", async () => {
    // Link-local like 169.254.169.254, and not in the way of another test that serves that one.
    const address = "169.254.77.78";
    const server = createServer((_, response) => response.end("credentials"));
    try {
      execFileSync("ip", ["addr", "add", `${address}/32`, "dev", "lo"]);
      await new Promise<void>((resolve) => {
        server.listen(18_080, address, resolve);
      });
      expect(await (await fetch(`http://${address}:18080/`)).text()).toBe("credentials");
      const sandbox = await local.create();
      const tried = await run(
        sandbox,
        `exec 2>&1; bash -c 'exec 3<>/dev/tcp/${address}/18080 && echo reached'`,
      );
      expect(tried.out).toMatch(/unreachable/u);
    } finally {
      server.close();
      execFileSync("ip", ["addr", "del", `${address}/32`, "dev", "lo"]);
    }
  });

  test("a descriptor that bench inherited is not inherited by a sandbox", () => {
    const fd = openSync(secrets, "r");
    const child = fileURLToPath(new URL("list-descriptors.ts", import.meta.url));
    const stateDir = mkdtempSync(join(tmpdir(), "local-fd-"));
    // Descriptors 4 and 40 of the child are the host's folder, and Node did not open them.
    const result = spawnSync(
      "/bin/bash",
      [
        "-c",
        `exec 4<"$1" 40<"$1"; exec "$2" --import tsx "$3" "$4"`,
        "sh",
        secrets,
        process.execPath,
        child,
        stateDir,
      ],
      { encoding: "utf8", stdio: ["ignore", "pipe", "inherit", fd] },
    );
    rmSync(stateDir, { recursive: true });
    expect(result.stdout).toBe("0 1 2\n");
  });
});

test("a state folder may have blanks, commas, colons, backslashes and hashes in its name", async () => {
  const parent = mkdtempSync(join(tmpdir(), "odd names-"));
  const local = await openLocal([], join(parent, "a b,c:d\\e#f"));
  try {
    expect((await run(await local.create(), "echo x > /usr/local/x && cat /usr/local/x")).out).toBe(
      "x",
    );
  } finally {
    await local.close();
    rmSync(parent, { recursive: true });
  }
});

describe("included host paths", () => {
  test("are seen read-only where they lie on the host, by every uid, and are recorded", async () => {
    const folder = mkdtempSync("/opt/bench-include-");
    writeFileSync(join(folder, "tool"), "#!/bin/sh\necho from the host\n", { mode: 0o755 });
    execFileSync("chmod", ["755", folder]);
    const hidden = mkdtempSync(join(tmpdir(), "not-included-"));
    const local = await openLocal([folder]);
    try {
      const sandbox = await local.create();
      expect((await run(sandbox, `${folder}/tool`, 10_001)).out).toBe("from the host");
      expect((await run(sandbox, `echo x > ${folder}/tool`)).err).toMatch(/Read-only/u);
      expect((await run(sandbox, `ls -A ${join(folder, "..")}`)).out).toBe(
        folder.slice("/opt/".length),
      );
      expect((await run(sandbox, `test -e ${hidden}`)).code).toBe(1);
      expect(sandbox.isolation.notes).toContain(`host path included: ${folder}`);
      const digest = createHash("sha256")
        .update(readFileSync(join(folder, "tool")))
        .digest("hex");
      expect((await run(sandbox, `sha256sum ${folder}/tool`)).out).toContain(digest);
    } finally {
      await local.close();
      rmSync(folder, { recursive: true });
      rmSync(hidden, { recursive: true });
    }
  });

  test.for(["relative/path", "/no/such/path", "/", "/proc", "/dev/shm", "/etc/../etc"])(
    "refuse %s",
    async (path) => {
      await expect(openLocal([path])).rejects.toThrow(`--local-include ${path}`);
    },
  );
});
