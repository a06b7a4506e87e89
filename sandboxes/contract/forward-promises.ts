import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Completed, ForwardedPort, Sandbox } from "../../core/ports/sandbox.ts";
import { assertExit, assertFails, commandOf, perl, text, until } from "./run-in-sandbox.ts";
import { AGENT_UID, type SandboxPromise } from "./sandbox-promise.ts";

const HUNDRED_MB = 100_000_000;

/** Copies stdin to the port and the port to stdout; ends its own direction at the end of stdin. */
const CLIENT = `
  use IO::Socket::INET; use strict; my $port = shift; $SIG{PIPE} = "IGNORE";
  my $socket = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $port) or do { print "refused: $!"; exit 9 };
  my $buffer;
  if (!fork) {
    while (sysread(STDIN, $buffer, 65536)) { syswrite($socket, $buffer) or exit 1; }
    shutdown($socket, 1); exit 0;
  }
  while (1) {
    my $got = sysread($socket, $buffer, 65536);
    if (!defined $got) { print STDERR "broken: $!"; exit 8; }
    last if $got == 0;
    my $at = 0;
    while ($at < $got) { $at += syswrite(STDOUT, $buffer, $got - $at, $at); }
  }`;

/** What `forward` promises: the one way out of a sandbox that has no network. */
export const forwardPromises: readonly SandboxPromise[] = [
  {
    promise: "100 MB go through a forwarded port both ways intact, its half-close included",
    check: async ({ makeSandbox }) => {
      const sandbox = await makeSandbox();
      await withPort(sandbox, echo, async ({ port }) => {
        const generator = `my $x = 12345; for (1 .. ${String(HUNDRED_MB / 1000)}) { $x = ($x * 1103515245 + 12345) % 2147483648; print sprintf("%010d", $x) x 100 }`;
        const sent = createHash("sha256");
        const received = createHash("sha256");
        const source = await sandbox.exec(
          commandOf(perl(generator), {
            maxOutputBytes: 100,
            onOutput: (_, chunk) => sent.update(chunk),
          }),
        );
        assertExit(source, 0);
        const script = 'perl -e "$2" | perl -e "$1" "$0"';
        const done = await sandbox.exec(
          commandOf(["/bin/sh", "-c", script, String(port), CLIENT, generator], {
            maxOutputBytes: 1000,
            onOutput: (stream, chunk) => {
              if (stream === "stdout") received.update(chunk);
            },
          }),
        );
        assertExit(done, 0);
        assert.equal(done.droppedBytes, HUNDRED_MB - 1000);
        assert.equal(received.digest("hex"), sent.digest("hex"));
      });
    },
  },
  {
    promise: "whoever answers may end first and still hear the rest",
    check: async ({ makeSandbox }) => {
      const sandbox = await makeSandbox();
      const heard: string[] = [];
      const endFirst = (socket: Socket): void => {
        socket.end("bye");
        socket.on("data", (chunk: Buffer) => heard.push(chunk.toString()));
        socket.on("end", () => heard.push("|"));
      };
      await withPort(sandbox, endFirst, async ({ port }) => {
        const script = '(sleep 1; printf late) | perl -e "$1" "$0"; sleep 1.5';
        const done = await sandbox.exec(commandOf(["/bin/sh", "-c", script, String(port), CLIENT]));
        assert.equal(text(done.stdout), "bye");
        assert.equal(heard.join(""), "late|");
      });
    },
  },
  {
    promise: "a forwarded port whose reader is slow holds its writer, and loses nothing",
    check: async ({ makeSandbox }) => {
      const sandbox = await makeSandbox();
      let waiting: Socket | null = null;
      const hold = (socket: Socket): void => {
        socket.pause();
        waiting = socket;
      };
      await withPort(sandbox, hold, async ({ port }) => {
        const writer = `
          use IO::Socket::INET; $| = 1;
          my $socket = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $ARGV[0]) or die $!;
          $socket->blocking(0); my $sent = 0; my $piece = "x" x 10000;
          while ($sent < 60000000) {
            my $left = 60000000 - $sent;
            my $put = syswrite($socket, $piece, $left < 10000 ? $left : 10000);
            if (defined $put) { $sent += $put; next; }
            my $mask = ""; vec($mask, fileno($socket), 1) = 1;
            select(undef, $mask, undef, 1) or $said++ or print "held at $sent\\n";
          }
          shutdown($socket, 1); $socket->blocking(1); sysread($socket, my $rest, 1);`;
        const running = await sandbox.spawn(commandOf(perl(writer, [String(port)])));
        const lines = running.stdout[Symbol.asyncIterator]();
        const held = /held at (\d+)/u.exec(text((await lines.next()).value ?? new Uint8Array()));
        assert.ok(held !== null && Number(held[1]) < 40_000_000, "the writer was not held");
        const socket: Socket = waiting ?? assert.fail("no connection came");
        let sizeBytes = 0;
        for await (const chunk of socket) if (chunk instanceof Buffer) sizeBytes += chunk.length;
        assert.equal(sizeBytes, 60_000_000);
        socket.destroy();
        await running.kill();
      });
    },
  },
  {
    promise:
      "many connections go through a forwarded port at once, and a silent one stops no other",
    check: async ({ makeSandbox }) => {
      const sandbox = await makeSandbox();
      await withPort(sandbox, echo, async ({ port }) => {
        const many = `
          use IO::Socket::INET;
          my @all = map { IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $ARGV[0]) or die $! } 1 .. 100;
          my $silent = shift @all; my $n = 0;
          for my $s (@all) { $n++; syswrite($s, "word $n"); shutdown($s, 1); }
          $n = 0;
          for my $s (reverse @all) { my $got = ""; while (sysread($s, my $b, 100)) { $got .= $b } $n++ if $got =~ /^word \\d+$/; }
          print $n;`;
        const done = await sandbox.exec(commandOf(perl(many, [String(port)]), { uid: AGENT_UID }));
        assertExit(done, 0);
        assert.equal(text(done.stdout), "99");
      });
    },
  },
  {
    promise:
      "a forwarded port whose socket is gone cuts connections, and a closed one refuses them",
    check: async ({ makeSandbox }) => {
      const sandbox = await makeSandbox();
      await withPort(sandbox, echo, async (forwarded, server) => {
        assert.equal(await say(sandbox, forwarded.port), "hello");
        const open = await sandbox.spawn(commandOf(perl(CLIENT, [String(forwarded.port)])));
        await until(async () => await isConnected(server), "no connection came");
        await forwarded.close();
        // What was open is cut, not left to hang.
        await open.closeStdin();
        assert.notEqual(await open.exitCode, 137);
        assert.match(await say(sandbox, forwarded.port), /^refused/u);
        await forwarded.close();
      });
      const nowhere = await sandbox.forward("/nonexistent/models.sock");
      assert.equal(await say(sandbox, nowhere.port), "");
    },
  },
  {
    promise: "no other sandbox reaches a forwarded port, and its own sandbox reaches nothing more",
    check: async ({ makeSandbox }) => {
      const [sandbox, neighbour] = [await makeSandbox(), await makeSandbox()];
      await withPort(sandbox, echo, async ({ port }) => {
        assert.match(await say(neighbour, port), /^refused/u);
        const interfaces = await sandbox.exec(
          commandOf(["/bin/sh", "-c", "cut -d: -f1 -s /proc/net/dev | tr -d ' '"]),
        );
        assert.equal(text(interfaces.stdout).trim(), "lo");
      });
    },
  },
  {
    promise: "two forwarded ports of a sandbox lead to two places, and end with it",
    check: async ({ makeSandbox }) => {
      const sandbox = await makeSandbox();
      await withPort(sandbox, greet("one"), async (first) => {
        await withPort(sandbox, greet("two"), async (second) => {
          assert.equal(await say(sandbox, first.port), "one");
          assert.equal(await say(sandbox, second.port), "two");
          await sandbox.destroy();
          await assertFails(sandbox.forward("/nonexistent/models.sock"), "lost");
        });
      });
    },
  },
];

function echo(socket: Socket): void {
  socket.pipe(socket);
}

function greet(word: string): (socket: Socket) => void {
  return (socket) => socket.end(word);
}

async function say(sandbox: Sandbox, port: number): Promise<string> {
  const script = 'printf hello | perl -e "$1" "$0"';
  const done: Completed = await sandbox.exec(
    commandOf(["/bin/sh", "-c", script, String(port), CLIENT], {
      uid: AGENT_UID,
      timeoutMs: 20_000,
    }),
  );
  assert.equal(done.timedOut, false, "the connection hung");
  return text(done.stdout);
}

async function isConnected(server: Server): Promise<boolean> {
  return await new Promise((resolve) => {
    server.getConnections((_, count) => resolve(count > 0));
  });
}

/** Serves a unix socket, forwards it into the sandbox, and takes both away again. */
async function withPort(
  sandbox: Sandbox,
  serve: (socket: Socket) => void,
  check: (forwarded: ForwardedPort, server: Server) => Promise<void>,
): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), "bench-forward-"));
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    // A connection that is cut is what some of the checks are about.
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    serve(socket);
  });
  server.listen(join(dir, "models.sock"));
  await once(server, "listening");
  let forwarded: ForwardedPort | null = null;
  try {
    forwarded = await sandbox.forward(join(dir, "models.sock"));
    await check(forwarded, server);
  } finally {
    await forwarded?.close();
    for (const socket of sockets) socket.destroy();
    server.close();
    await rm(dir, { recursive: true });
  }
}
