import { systemCalls } from "../system-calls.ts";
import { closedDescriptors, loadedFilter } from "../seccomp/launcher-words.ts";

/** What an entering process gives up, and what it becomes. */
export interface Admission {
  readonly uid: number;
  /** Numbers of the capabilities that root inside may hold; another uid holds none. */
  readonly capabilities: readonly number[];
  /** The sandbox's root, in the root of the namespace. */
  readonly root: string;
  readonly cwd: string;
  /** Names of the command's variables: the first one's value is in variable `{prefix}0`, and so on. */
  readonly names: readonly string[];
  readonly prefix: string;
  readonly argv: readonly string[];
}

/**
 * What setpriv, chroot and a shell would do one after another, in the process that loads the filter
 * anyway: a program costs a command more than all of these calls. The order is theirs. Folder and
 * program are looked up with the command's own rights, when nothing of the host's is left to look up
 * with: a link of the sandbox may lead into /proc. Descriptor 3 tells the host side how far it came:
 * `cwd` for a missing folder, `go` when all went well.
 */
const ADMIT = `sub fail { print STDERR "$_[0]: $!\\n"; exit 125 }
my ($prctl, $close, $capget, $capset, $setgroups, $setresgid, $setresuid) = map { $_ + 0 } split(/,/, shift);
my ($hex, $fds, $kept, $uid, $root, $cwd, $prefix, $count) = splice(@ARGV, 0, 8);
$uid += 0;
syscall($close, $_ + 0) for split(/,/, $fds);
my $filter = pack("H*", $hex);
my $program = pack("S x6 P", length($filter) / 8, $filter);
syscall($prctl, 22, 2, $program) == 0 or fail("system call filter");
$uid == 0 or syscall($prctl, 38, 1, 0, 0, 0) == 0 or fail("no new privileges");
my %kept = map { $_ => 1 } split(/,/, $kept);
for my $each (0 .. 63) {
  my $held = syscall($prctl, 23, $each, 0, 0, 0);
  last if $held < 0;
  $kept{$each} or $held == 0 or syscall($prctl, 24, $each, 0, 0, 0) == 0 or fail("bounding set");
}
chroot($root) && chdir("/") or fail($root);
my ($header, $sets) = (pack("L2", 0x20080522, 0), pack("L6"));
syscall($setgroups, 0, 0) == 0 && syscall($setresgid, $uid, $uid, $uid) == 0 &&
  syscall($setresuid, $uid, $uid, $uid) == 0 or fail("uid $uid");
syscall($capget, $header, $sets) == 0 or fail("capabilities");
my ($low, $high) = (0, 0);
$_ < 32 ? ($low |= 1 << $_) : ($high |= 1 << $_ - 32) for keys %kept;
my @held = unpack("L6", $sets);
$sets = pack("L6", $held[0] & $low, $held[1] & $low, 0, $held[3] & $high, $held[4] & $high, 0);
syscall($capset, $header, $sets) == 0 or fail("capabilities");
open(my $words, ">&=", 3) or fail("words");
chdir($cwd) or syswrite($words, "cwd\\n"), exit 127;
my @names = splice(@ARGV, 0, $count);
my @values = @ENV{map { $prefix . $_ } 0 .. $#names};
%ENV = ();
@ENV{@names} = @values;
syswrite($words, "go\\n");
close($words);
exec { $ARGV[0] } @ARGV;
my $missing = grep { $! == $_ } 2, 20, 36, 40;
print STDERR "$ARGV[0]: $!\\n";
exit($missing ? 127 : 126);`;

/** The words that admit a command into a sandbox, on a machine where the filter was seen to load. */
export function admitWords(admission: Admission): [string, ...string[]] {
  const { prctl, close, capget, capset, setgroups, setresgid, setresuid } = systemCalls();
  const { capabilities, uid, root, cwd, prefix, names, argv } = admission;
  return [
    "perl",
    "-e",
    ADMIT,
    [prctl, close, capget, capset, setgroups, setresgid, setresuid].join(","),
    loadedFilter(),
    closedDescriptors().join(","),
    capabilities.join(","),
    String(uid),
    root,
    cwd,
    prefix,
    String(names.length),
    ...names,
    ...argv,
  ];
}
