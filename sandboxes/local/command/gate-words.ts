import { systemCalls } from "../system-calls.ts";
import { NAMESPACES } from "./enter-sandbox.ts";

/** What a gate is told, once there is a command to let in. */
export interface GateOrder {
  /** Pid, on the host, of the sandbox's first process. */
  readonly supervisorPid: number;
  /** Environment and words of the program that it starts inside. */
  readonly env: Readonly<Record<string, string>>;
  readonly argv: readonly string[];
}

/**
 * Joins a command's cgroups, which takes the kernel some ten milliseconds however little is to be
 * done, and then waits on descriptor 3 for the command: what the join script and nsenter do, begun
 * before anyone asks. It waits on the host, where nobody inside sees it, and ends when this process
 * does. Its own image is the host's, so it runs nothing inside but a program of the read-only folder
 * that is the namespace's root, and while it still holds what root inside may not trace.
 */
const GATE = `sub fail { print STDERR "$_[0]: $!\\n"; exit 125 }
$^F = 3;
my ($setns, $close, $prlimit, $joins) = map { $_ + 0 } splice(@ARGV, 0, 4);
umask(022);
my $none = pack("Q2", 0, 0);
syscall($prlimit, 0, 4, $none, 0) == 0 or fail("core");
for (splice(@ARGV, 0, $joins)) {
  open(my $file, ">", $_) or fail($_);
  syswrite($file, "0\\n") && close($file) or fail($_);
}
my $spaces = shift;
open(my $host, "+<&=", 3) or fail("order");
my $order = "";
until ($order =~ /^(\\d+)\\n/ && length($order) == $+[0] + $1) {
  my $count = sysread($host, $order, 65536, length($order));
  defined($count) or fail("order");
  $count or exit 0;
}
my ($pid, $count, @words) = split(/\\0/, substr($order, index($order, "\\n") + 1), -1);
my @spaces = map { open(my $space, "<", "/proc/$pid/ns/$_") or fail($_); $space } split(/,/, $spaces);
for (@spaces) { syscall($setns, fileno($_), 0) == 0 && close($_) or fail("namespace") }
%ENV = splice(@words, 0, 2 * $count);
defined(my $child = fork) or fail("fork");
if (!$child) {
  exec { $words[0] } @words;
  syswrite($host, "exec $!\\n");
  exit 126;
}
syscall($close, $_) for 0 .. 3;
waitpid($child, 0);
exit($? & 127 ? 128 + ($? & 127) : $? >> 8);`;

/** The words of a gate that joins by these files. Throws `unsupported` where no system calls are known. */
export function gateWords(joinFiles: readonly string[]): [string, ...string[]] {
  const { setns, close, prlimit } = systemCalls();
  // The mount namespace last: behind it /proc is the sandbox's.
  const spaces = [...NAMESPACE_FILES, "mnt"].join(",");
  const numbers = [setns, close, prlimit, joinFiles.length].map(String);
  return ["perl", "-e", GATE, ...numbers, ...joinFiles, spaces];
}

const NAMESPACE_FILES = NAMESPACES.map((option) => option.slice(2)).filter(
  (name) => name !== "mount",
);

/** An order as bytes: its length, then words that each end where a NUL is, which none may hold. */
export function gateOrder({ supervisorPid, env, argv }: GateOrder): Buffer {
  const variables = Object.entries(env);
  const words = [String(supervisorPid), String(variables.length), ...variables.flat(), ...argv];
  const body = Buffer.from(words.join("\0"));
  return Buffer.concat([Buffer.from(`${String(body.length)}\n`), body]);
}
