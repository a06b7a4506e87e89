import { callArch, systemCalls } from "../system-calls.ts";

const PR_SET_CHILD_SUBREAPER = 36;

/**
 * Two processes between the host and a command. The outer one is out of the sandbox's sight and waits.
 * The inner one is the reaper of all that the command leaves behind (PR_SET_CHILD_SUBREAPER): a daemon's
 * parent is gone, but not its line of descent, by which a deadline finds it. Neither keeps one of the
 * command's streams open, and root inside cannot trace the inner one, which holds more than it does.
 */
const REAPER = `my ($prctl, $close, $option) = splice(@ARGV, 0, 3);
sub follow { my ($wanted) = @_; syscall($close + 0, $_) for 0 .. 3;
  while ((my $ended = waitpid(-1, 0)) != -1) { exit($? & 127 ? 128 + ($? & 127) : $? >> 8) if $ended == $wanted }
  exit 137 }
defined(my $inner = fork) or exit 125;
follow($inner) if $inner;
syscall($prctl + 0, $option + 0, 1, 0, 0, 0) == 0 or die "reaper: $!\\n";
defined(my $command = fork) or exit 125;
follow($command) if $command;
exec { $ARGV[0] } @ARGV or die "$ARGV[0]: $!\\n";`;

/** Words to put before a program that nsenter, which must not fork itself, leads into a pid namespace. */
export function reaperWords(): string[] {
  const { prctl, close } = systemCalls();
  return ["perl", "-e", REAPER, String(prctl), String(close), String(PR_SET_CHILD_SUBREAPER)];
}

/** Whether this processor's system calls are known. */
export function hasReaper(): boolean {
  return callArch() !== null;
}
