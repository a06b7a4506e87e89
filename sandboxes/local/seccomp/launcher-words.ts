import { readFileSync, readdirSync } from "node:fs";
import { callArch, systemCalls } from "../system-calls.ts";
import { encodeFilter } from "./encode-filter.ts";
import { filterFor } from "./seccomp-filter.ts";

/**
 * util-linux loads no filter before 2.41, and perl is among the packages that every Debian has. The
 * filter must be loaded while CAP_SYS_ADMIN is still held, so that root inside needs no no_new_privs.
 */
const LAUNCHER = `my ($prctl, $hex, $close, $fds) = splice(@ARGV, 0, 4);
syscall($close + 0, $_ + 0) for split(/,/, $fds);
if ($hex) {
  my $filter = pack("H*", $hex);
  my $program = pack("S x6 P", length($filter) / 8, $filter);
  syscall($prctl + 0, 22, 2, $program) == 0 or die "system call filter: $!\\n";
}
exec { $ARGV[0] } @ARGV or die "$ARGV[0]: $!\\n";`;

// Neither changes while this process runs.
let descriptors: number[] | undefined;
let filter: string | undefined;

/**
 * Words that, put before a host program and its arguments, close what it must not inherit and, if
 * wanted, load the system call filter. None where there is neither to do.
 */
export function launcherWords(withFilter: boolean): string[] {
  if (callArch() === null) return [];
  const closed = closedDescriptors();
  if (!withFilter && closed.length === 0) return [];
  const { prctl, close } = systemCalls();
  const hex = withFilter ? loadedFilter() : "";
  return ["perl", "-e", LAUNCHER, String(prctl), hex, String(close), closed.join(",")];
}

/** The filter's program in hexadecimal digits. Throws where the processor's calls are not known. */
export function loadedFilter(): string {
  const arch = callArch();
  if (arch === null) throw new Error(`no system calls are known for ${process.arch}`);
  return (filter ??= encodeFilter(filterFor(arch)).toString("hex"));
}

/** Descriptors that a program of the sandbox must not inherit. */
export function closedDescriptors(): readonly number[] {
  return (descriptors ??= inheritedDescriptors());
}

/**
 * Descriptors above 3 that whoever started this process left open: Node marks its own to be closed
 * in its children, not these, and one of them could be a folder of the host.
 */
export function inheritedDescriptors(): number[] {
  return readdirSync("/proc/self/fd")
    .map(Number)
    .filter((fd) => fd > 3 && isInherited(fd));
}

const CLOSE_ON_EXEC = 0o2000000;

function isInherited(fd: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/mu.exec(
      readFileSync(`/proc/self/fdinfo/${String(fd)}`, "utf8"),
    )?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // The listing's own descriptor is closed again.
    return false;
  }
}
