import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BOX, type BootPlan, bootTables, escapePath } from "./boot-tables.ts";
import { SANDBOX_HOSTNAME } from "./root/base-root.ts";

/**
 * Builds a sandbox's file system and devices from inside its own mount, pid and network namespaces,
 * then becomes its first process. Everything that it mounts dies with that process.
 *
 * The namespace's root is not the sandbox's: it holds the host's programs, read-only, and the
 * sandbox below them. Commands enter there, drop their privileges with those programs, and only then
 * chroot. A root inside that breaks out of its chroot finds this read-only root and nothing else.
 */
const BOOT_SCRIPT = `set -eu
umask 022
dir=$1 base=$2 template=$3 escaped=$4 count=$5; shift 5
cd "$dir"
read -r pid rest < /proc/self/stat
# The file is the machine's root's; in a user namespace the call is allowed, the file is not.
{ echo ${SANDBOX_HOSTNAME} > /proc/sys/kernel/hostname; } 2>&- || hostname ${SANDBOX_HOSTNAME}
# Beside the mounts, which it does not need.
if command -v ip > /dev/null; then ip link set lo up &
else perl -e 'socket(my $s, 2, 2, 0) && ioctl($s, 0x8914, pack("a16 s x22", "lo", 0x41)) or die "lo: $!\\n"' & fi
loopback=$!
[ -z "$template" ] || cp --sparse=always "$template" disk.img
mount -n -a -T roots
# An image may have put a link where a folder is needed, and then the mount would land elsewhere.
make=
while [ "$1" != -- ]; do
  if [ "$1" = --make ]; then make=1; shift; continue; fi
  at=ns/${BOX} rest=$1
  while [ -n "$rest" ]; do
    at=$at/\${rest%%/*}
    case $rest in */*) rest=\${rest#*/} ;; *) rest= ;; esac
    [ -z "$make" ] || [ -e "$at" ] || [ -L "$at" ] || mkdir "$at"
    if [ -L "$at" ] || [ ! -e "$at" ]; then echo "the image has no real /$1" >&2; exit 1; fi
  done
  shift
done
shift
mount -n -a -T trees
cp -a "$base/dev/." ns/${BOX}/dev
mount -n -a -T kernel
# A mount that is not there must end the sandbox, not be noticed by an agent. The table is read in one
# piece: a shell that reads a line seeks back in the file, and the kernel then leaves lines out.
set -f
IFS='
'
for line in $(cat /proc/self/mountinfo); do
  case $line in
  *" $escaped/ns "* | *" $escaped/ns/"* | *" $escaped/disk "*) count=$((count - 1)) ;;
  esac
done
unset IFS
set +f
if [ "$count" != 0 ]; then echo "$count mounts are missing" >&2; exit 1; fi
wait "$loopback"
cd ns
pivot_root . old
cd /
umount -n -l /old
echo "ready $pid" >&3
exec 2>&- 3>&-
exec "$@"`;

/**
 * Writes the sandbox's mount tables and gives the command that boots it; `first` is what its first
 * process becomes in the end.
 */
export function bootCommand(plan: BootPlan, first: readonly string[]): string[] {
  const { plainPaths, madePaths, ...tables } = bootTables(plan);
  for (const [name, lines] of Object.entries(tables))
    writeFileSync(join(plan.dir, name), `${lines.join("\n")}\n`);
  if (plan.diskTemplate === null)
    for (const id of ["root", ...plan.system.trees.map((tree) => tree.id)])
      for (const name of ["up", "work"])
        mkdirSync(join(plan.dir, "disk", id, name), { recursive: true });
  const count = tables.roots.length + tables.trees.length + tables.kernel.length;
  return [
    "/bin/sh",
    "-c",
    BOOT_SCRIPT,
    "bench-sandbox",
    plan.dir,
    plan.base,
    plan.diskTemplate ?? "",
    escapePath(plan.dir),
    String(count),
    ...plainPaths,
    ...(madePaths.length > 0 ? ["--make", ...madePaths] : []),
    "--",
    ...first,
  ];
}
