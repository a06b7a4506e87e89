import { SANDBOX_HOSTNAME } from "./root/base-root.ts";
import type { SystemTrees } from "./root/host-facts.ts";

/** A path of the host's that a sandbox sees read-only, where it lies on the host. */
export interface IncludedPath {
  readonly path: string;
  /** The same with every link resolved: what is mounted. */
  readonly resolved: string;
}

/** What the first process of a sandbox is told. */
export interface BootPlan {
  /** The sandbox's folder; paths of lower folders are relative to `ns` in it. */
  readonly dir: string;
  readonly box: string;
  /** File to copy for a file system of the sandbox's own; null for plain folders, without a limit. */
  readonly diskTemplate: string | null;
  /** Folder of the base root. */
  readonly base: string;
  /** Lower folders of `/`, then of each system tree, top first, joined by `:`. */
  readonly rootLower: string;
  readonly treeLowers: readonly {
    readonly id: string;
    readonly path: string;
    readonly lower: string;
  }[];
  readonly system: SystemTrees;
  readonly includes: readonly IncludedPath[];
}

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
dir=$1 box=$2 disk=$3 base=$4 root=$5; shift 5
cd "$dir"
read -r pid rest < /proc/self/stat
echo ${SANDBOX_HOSTNAME} > /proc/sys/kernel/hostname
if command -v ip > /dev/null; then ip link set lo up
else perl -e 'socket(my $s, 2, 2, 0) && ioctl($s, 0x8914, pack("a16 s x22", "lo", 0x41)) or die "lo: $!\\n"'; fi

mount -n -t tmpfs -o mode=0755,nosuid,nodev,size=1m tmpfs ns
cd ns
cp -a "$base/kit/." .
old=old-$box
mkdir "$old" "$box"
ln -s "$box/proc" proc
if [ -n "$disk" ]; then
  cp --sparse=always "$disk" ../disk.img
  mount -n -t ext4 -o loop,noinit_itable,nobarrier,nosuid,nodev,noatime ../disk.img disk
else
  mkdir ../disk
  mount -n --bind ../disk disk
fi

overlay() {
  mkdir -p "disk/$1/up" "disk/$1/work"
  mount -n -t overlay -o "nosuid,nodev,lowerdir=$3,upperdir=disk/$1/up,workdir=disk/$1/work" overlay "$2"
}
# An image may have put a link where a folder is needed, and then the mount would land elsewhere.
plain() {
  at=$box rest=$1
  while [ -n "$rest" ]; do
    at=$at/\${rest%%/*}
    case $rest in */*) rest=\${rest#*/} ;; *) rest= ;; esac
    if [ -L "$at" ] || [ ! -e "$at" ]; then echo "the image has no real /$1" >&2; exit 1; fi
  done
}

overlay root "$box" "$root"
while [ "$1" != -- ]; do plain "$2"; overlay "$1" "$box/$2" "$3"; shift 3; done; shift
while [ "$1" != -- ]; do mount -n -o bind,ro,nosuid,nodev "/$1" "$1"; shift; done; shift
while [ "$1" != -- ]; do plain "\${1#/}"; mount -n -o bind,ro,nosuid,nodev "$2" "$box$1"; shift 2; done

plain proc; plain dev; plain sys
mount -n -t proc -o nosuid,nodev,noexec proc "$box/proc"
mount -n -t tmpfs -o mode=0755,nosuid,noexec,size=64k tmpfs "$box/dev"
cp -a "$base/dev/." "$box/dev"

# The kernel's own files that Docker masks or makes read-only: one table, mounted by one program.
count=0
{
  echo "devpts /$box/dev/pts devpts nosuid,noexec,newinstance,ptmxmode=0666,mode=0620"
  echo "tmpfs /$box/dev/shm tmpfs nosuid,nodev,noexec,mode=1777,size=64m"
  for name in kcore keys kmsg timer_list timer_stats latency_stats sched_debug interrupts kpagecount kpageflags; do
    [ -e "$box/proc/$name" ] || continue
    echo "/$box/dev/null /$box/proc/$name none bind"; count=$((count + 1))
  done
  for name in acpi asound scsi; do
    [ -e "$box/proc/$name" ] || continue
    echo "tmpfs /$box/proc/$name tmpfs ro,nosuid,nodev,noexec,size=4k"; count=$((count + 1))
  done
  for name in bus fs irq sys sysrq-trigger; do
    [ -e "$box/proc/$name" ] || continue
    echo "/$box/proc/$name /$box/proc/$name none bind,ro,nosuid,nodev,noexec"; count=$((count + 1))
  done
} > table

umount -n disk
pivot_root . "$old"
cd /
umount -n -l "/$old"
mount -n -a -T /table
# A mask that is not there must end the sandbox, not be noticed by an agent.
while read -r a b c d at rest; do
  case $at in "/$box/proc/"*) count=$((count - 1)) ;; esac
done < /proc/self/mountinfo
if [ "$count" != 0 ]; then echo "$count masks of /proc are missing" >&2; exit 1; fi
rmdir disk "$old"
mount -n -o remount,ro,nosuid,nodev /
echo "ready $pid" >&3
exec 2>&- 3>&-
shift
exec "$@"`;

/** The command that boots the sandbox; `first` is what its first process becomes in the end. */
export function bootCommand(plan: BootPlan, first: readonly string[]): string[] {
  const kit = plan.system.trees.map(({ path }) => path).filter((path) => !path.includes("/"));
  return [
    "/bin/sh",
    "-c",
    BOOT_SCRIPT,
    "bench-sandbox",
    plan.dir,
    plan.box,
    plan.diskTemplate ?? "",
    plan.base,
    plan.rootLower,
    ...plan.treeLowers.flatMap(({ id, path, lower }) => [id, path, lower]),
    "--",
    ...kit,
    "--",
    ...plan.includes.flatMap(({ path, resolved }) => [path, resolved]),
    "--",
    ...first,
  ];
}
