import assert from "node:assert/strict";
import type { ByteStream, Command, Completed, Sandbox } from "../../core/ports/sandbox.ts";

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export type CommandOptions = Partial<Omit<Command, "argv">>;

/** A command with the parts filled in that a check does not care about: root, in `/`, two minutes. */
export function commandOf(argv: Command["argv"], options: CommandOptions = {}): Command {
  return { argv, uid: 0, cwd: "/", env: { PATH }, timeoutMs: 120_000, ...options };
}

/** The same for a line of shell. */
export function shell(script: string, options: CommandOptions = {}): Command {
  return commandOf(["/bin/sh", "-c", script], options);
}

/** Runs a shell script and wants it to end with 0; resolves to its stdout without the last newline. */
export async function outputOf(
  sandbox: Sandbox,
  script: string,
  options: CommandOptions = {},
): Promise<string> {
  const completed = await sandbox.exec(shell(script, options));
  assert.equal(completed.timedOut, false, `timed out: ${script}`);
  assert.equal(
    completed.exitCode,
    0,
    `exit ${String(completed.exitCode)} of ${script}: ${text(completed.stderr)}`,
  );
  return text(completed.stdout).replace(/\n$/u, "");
}

/** Runs a perl program: the one language that Debian's essential packages have. */
export function perl(program: string, args: readonly string[] = []): Command["argv"] {
  return ["perl", "-e", program, ...args];
}

/** Whether a process with this text in its command line runs in the sandbox, zombies not counted. */
export async function isRunning(sandbox: Sandbox, marker: string): Promise<boolean> {
  // Reading /proc by hand needs no procps; the marker is cut in two so as not to find the search.
  const half = Math.floor(marker.length / 2);
  const program = `
    my $wanted = $ARGV[0] . $ARGV[1];
    for my $file (glob "/proc/[0-9]*/cmdline") {
      next if $file eq "/proc/$$/cmdline";
      open(my $handle, "<", $file) or next;
      local $/; my $line = <$handle> // ""; $line =~ tr/\\0/ /;
      if (index($line, $wanted) >= 0) { print "running"; exit 0; }
    }`;
  const found = await sandbox.exec(
    commandOf(perl(program, [marker.slice(0, half), marker.slice(half)])),
  );
  assert.equal(found.exitCode, 0, text(found.stderr));
  return text(found.stdout) === "running";
}

/** Waits until the marker's process is seen, or gone; fails after ten seconds. */
export async function untilRunning(sandbox: Sandbox, marker: string, wanted = true): Promise<void> {
  await until(
    async () => (await isRunning(sandbox, marker)) === wanted,
    `${marker} is ${wanted ? "not " : ""}running`,
  );
}

/** Polls a condition; fails with the given complaint after ten seconds. */
export async function until(holds: () => Promise<boolean>, complaint: string): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if (await holds()) return;
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
  assert.fail(complaint);
}

export function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** A stream's bytes in one piece. */
export async function collect(stream: ByteStream): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The error of a call that must fail with this `SandboxError.failure`. */
export async function assertFails(call: Promise<unknown>, failure: string): Promise<void> {
  await assert.rejects(call, (error: unknown) => {
    assert.ok(error instanceof Error, `threw ${String(error)}`);
    assert.equal("failure" in error ? error.failure : error.name, failure, error.message);
    return true;
  });
}

export function assertExit(completed: Completed, exitCode: number): void {
  assert.equal(completed.timedOut, false, "timed out");
  assert.equal(completed.exitCode, exitCode, text(completed.stderr));
}
