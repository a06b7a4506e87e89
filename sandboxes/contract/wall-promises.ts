import assert from "node:assert/strict";
import { chmod, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { type Server, createServer } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import type { Sandbox } from "../../core/ports/sandbox.ts";
import { assertExit, commandOf, isRunning, outputOf, perl, shell, text } from "./run-in-sandbox.ts";
import { AGENT_UID, type SandboxPromise } from "./sandbox-promise.ts";

/** Docker's default capabilities without MKNOD (27) and NET_RAW (13): capabilities(7), attack 19. */
const ALLOWED_CAPABILITIES = [0, 1, 3, 4, 5, 6, 7, 8, 10, 18, 29, 31].reduce(
  (mask, bit) => mask | (1n << BigInt(bit)),
  0n,
);

/** The address of a cloud's metadata service, and of a container platform's credentials. */
const LINK_LOCAL = ["169.254.169.254", "169.254.170.2", "fd00:ec2::254"];

const CONNECT = `
  use Socket qw(:addrinfo SOCK_STREAM); use IO::Socket;
  $SIG{ALRM} = sub { print "timeout"; exit 0 }; alarm 3;
  my ($error, $to) = getaddrinfo($ARGV[0], $ARGV[1], { flags => AI_NUMERICHOST, socktype => SOCK_STREAM });
  socket(my $socket, $to->{family}, SOCK_STREAM, 0) or do { print "refused: $!"; exit 0 };
  print connect($socket, $to->{addr}) ? "connected" : "refused: $!";`;

const LISTEN = `
  use IO::Socket; $| = 1;
  my $server = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => $ARGV[0], Listen => 5, ReuseAddr => 1) or die $!;
  print "up\\n"; while (my $peer = $server->accept) { close $peer }`;

/** What keeps a sandbox from the host, from the network and from its neighbours. */
export const wallPromises: readonly SandboxPromise[] = [
  {
    promise:
      "without a network nothing is reached: not the host's addresses, not the metadata service",
    requires: { what: "way to cut the network", holds: (caps) => caps.noNetwork !== "none" },
    check: async ({ makeSandbox }) => {
      const sandbox = await makeSandbox({ network: "closed" });
      await withHostServer(async (port) => {
        for (const address of [...hostAddresses(), ...LINK_LOCAL])
          assert.match(await connect(sandbox, address, port), /^refused/u, address);
      });
      for (const address of LINK_LOCAL)
        assert.match(await connect(sandbox, address, 80), /^refused/u, address);
      const interfaces = await outputOf(sandbox, "cut -d: -f1 -s /proc/net/dev | tr -d ' '");
      assert.equal(interfaces, "lo");
    },
  },
  {
    promise: "with the open internet the host's own addresses and the private ranges stay closed",
    requires: { what: "open internet", holds: (caps) => caps.publicNetwork },
    check: async ({ makeSandbox }) => {
      const sandbox = await makeSandbox({ network: "public" });
      await withHostServer(async (port) => {
        for (const address of [...hostAddresses(), ...LINK_LOCAL, "10.0.0.1", "192.168.0.1"])
          assert.notEqual(await connect(sandbox, address, port), "connected", address);
      });
    },
  },
  {
    promise: "the loopback inside a sandbox is up, and its own",
    check: async ({ makeSandbox }) => {
      const [one, other] = await Promise.all([makeSandbox(), makeSandbox()]);
      const port = 41_237;
      const server = await one.spawn(commandOf(perl(LISTEN, [String(port)]), { uid: AGENT_UID }));
      for await (const chunk of server.stdout) if (text(chunk).includes("up")) break;
      assert.equal(await connect(one, "127.0.0.1", port), "connected");
      assert.match(await connect(other, "127.0.0.1", port), /^refused/u);
      await server.kill();
    },
  },
  {
    promise: "two sandboxes do not see each other's files and processes",
    check: async ({ makeSandbox }) => {
      const [one, other] = await Promise.all([makeSandbox(), makeSandbox()]);
      const folders = ["/tmp", "/dev/shm", "/root", "/var/tmp", "/usr/local"];
      await outputOf(one, folders.map((folder) => `echo x > ${folder}/of-the-first`).join(" && "));
      const seen = await outputOf(
        other,
        `ls ${folders.map((f) => `${f}/of-the-first`).join(" ")} 2>/dev/null | wc -l`,
      );
      assert.equal(seen, "0");
      await outputOf(one, "setsid sleep 6001.5 >/dev/null 2>&1 & true");
      assert.equal(await isRunning(one, "sleep 6001.5"), true);
      assert.equal(await isRunning(other, "sleep 6001.5"), false);
    },
  },
  {
    promise: "the host's files and processes are not there",
    check: async ({ makeSandbox }) => {
      const sandbox = await makeSandbox();
      const folder = await mkdtemp(join(tmpdir(), "contract-"));
      try {
        await writeFile(join(folder, "canary"), "host");
        // Nor is there a way to them through the first process, which the backend made.
        for (const way of ["", "/proc/1/root", "/proc/1/cwd/..", "/proc/1/cwd/../../.."]) {
          const canary = `${way}${join(folder, "canary")}`;
          assertExit(await sandbox.exec(commandOf(["test", "-e", canary])), 1);
        }
      } finally {
        await rm(folder, { recursive: true });
      }
      assert.equal(await isRunning(sandbox, process.argv[1] ?? "vitest"), false);
    },
  },
  {
    promise:
      "a folder mounted from this machine is read and run by all inside, changed by nobody, and not there in other sandboxes",
    check: async ({ makeSandbox }) => {
      const hostDir = await mkdtemp(join(tmpdir(), "contract-"));
      const tool = join(hostDir, "tool");
      try {
        await chmod(hostDir, 0o755);
        await writeFile(tool, "#!/bin/sh\necho from the mount\n", { mode: 0o755 });
        const mounts = [{ hostDir, path: "/opt/of-the-contract/tree" }];
        const [one, other] = await Promise.all([makeSandbox({ mounts }), makeSandbox()]);
        const path = "/opt/of-the-contract/tree";
        assert.equal(await outputOf(one, `${path}/tool`, { uid: AGENT_UID }), "from the mount");
        const attempts = [
          `echo x > ${path}/new`,
          `echo x >> ${path}/tool`,
          `rm ${path}/tool`,
          `chmod 777 ${path}/tool`,
          `mount -o remount,rw,bind ${path}`,
          `umount ${path}`,
        ];
        for (const attempt of attempts)
          assert.notEqual(
            (await one.exec(shell(`( ${attempt} ) 2>/dev/null`))).exitCode,
            0,
            attempt,
          );
        assert.deepEqual(await readdir(hostDir), ["tool"]);
        assertExit(await other.exec(commandOf(["test", "-e", "/opt/of-the-contract"])), 1);
      } finally {
        await rm(hostDir, { recursive: true });
      }
    },
  },
  {
    promise: "root inside holds no capability beyond Docker's default less mknod and net_raw",
    requires: { what: "root", holds: (caps) => caps.rootExec },
    check: async ({ sharedSandbox }) => {
      const sandbox = await sharedSandbox();
      for (const uid of [0, AGENT_UID]) {
        const status = await outputOf(sandbox, "cat /proc/self/status", { uid });
        for (const set of ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"]) {
          const mask = BigInt(
            `0x${new RegExp(`${set}:\\s*([0-9a-f]+)`, "u").exec(status)?.[1] ?? "missing"}`,
          );
          assert.equal(
            mask & ~ALLOWED_CAPABILITIES,
            0n,
            `${set} of uid ${String(uid)}: ${mask.toString(16)}`,
          );
          if (uid !== 0 && set !== "CapBnd") assert.equal(mask, 0n, `${set} of the agent`);
        }
      }
    },
  },
  {
    promise:
      "root inside can neither mount, nor make devices, nor set the clock, nor reach the kernel's switches",
    requires: { what: "root", holds: (caps) => caps.rootExec },
    check: async ({ sharedSandbox }) => {
      const sandbox = await sharedSandbox();
      const attempts = [
        "mount -t tmpfs tmpfs /mnt",
        "umount /proc",
        "mknod /tmp/device b 7 0",
        "date -s '2001-01-01'",
        "hostname other",
        "echo b > /proc/sysrq-trigger",
        "echo x > /proc/sys/kernel/core_pattern",
        "head -c 1 /proc/kcore | grep -q .",
        "cat /proc/keys | grep -q .",
        "unshare --mount true",
        "unshare --user true",
        "ls /sys/firmware/* /sys/kernel/security/*",
        "echo 0 > /sys/fs/cgroup/cgroup.procs",
      ];
      for (const attempt of attempts) {
        const done = await sandbox.exec(shell(`( ${attempt} ) 2>/dev/null >&2`));
        assert.notEqual(done.exitCode, 0, attempt);
      }
    },
  },
  {
    promise: "the devices are the harmless ones, and no block device can be opened",
    check: async ({ sharedSandbox }) => {
      const sandbox = await sharedSandbox();
      await outputOf(
        sandbox,
        "echo x > /dev/null && head -c 1 /dev/zero /dev/urandom /dev/random > /dev/null && test -w /dev/shm",
        { uid: AGENT_UID },
      );
      assert.equal(
        await outputOf(sandbox, "find / -xdev -type b 2>/dev/null; find /dev -type b"),
        "",
      );
    },
  },
];

/** A server on every address of the host, so that "refused" can only mean a wall. */
async function withHostServer(use: (port: number) => Promise<void>): Promise<void> {
  const server = createServer((socket) => socket.end());
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, () => {
      resolve();
    });
  });
  try {
    await use(portOf(server));
  } finally {
    server.close();
  }
}

function portOf(server: Server): number {
  const address = server.address();
  assert.ok(address !== null && typeof address === "object");
  return address.port;
}

function hostAddresses(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  // A link-local IPv6 address means nothing without its interface, and the sandbox's own `::1` is no wall.
  return addresses.map(({ address }) => address).filter((address) => !address.startsWith("fe80"));
}

async function connect(sandbox: Sandbox, address: string, port: number): Promise<string> {
  const done = await sandbox.exec(commandOf(perl(CONNECT, [address, String(port)])));
  assertExit(done, 0);
  return text(done.stdout);
}
