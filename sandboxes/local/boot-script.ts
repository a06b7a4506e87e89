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
  /** `image`: a file system of its own in `disk.img`; `folder`: plain folders, with no limit. */
  readonly disk: "image" | "folder";
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
dir=$1 box=$2 disk=$3 root=$4; shift 4
cd "$dir"
read -r pid rest < /proc/self/stat
echo ${SANDBOX_HOSTNAME} > /proc/sys/kernel/hostname
if command -v ip > /dev/null; then ip link set lo up
else perl -e 'socket(my $s, 2, 2, 0) && ioctl($s, 0x8914, pack("a16 s x22", "lo", 0x41)) or die "lo: $!\\n"'; fi

mount -n -t tmpfs -o mode=0755,nosuid,nodev,size=1m tmpfs ns
cd ns
old=old-$box
mkdir dev disk "$old" "$box"
ln -s "$box/proc" proc
# perl reads on from /dev/null behind its -e: an empty file that nobody can change, not the sandbox's.
: > dev/null
case $disk in
image) mount -n -t ext4 -o loop,noinit_itable,nobarrier,nosuid,nodev,noatime ../disk.img disk ;;
folder) mkdir ../disk; mount -n --bind ../disk disk ;;
esac

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
while [ "$1" != -- ]; do
  case $1 in
  link) ln -s "$3" "$2" ;;
  tree) mkdir -p "$2"; mount -n -o bind,ro,nosuid,nodev "/$2" "$2" ;;
  esac
  shift 3
done; shift
while [ "$1" != -- ]; do plain "\${1#/}"; mount -n -o bind,ro,nosuid,nodev "$2" "$box$1"; shift 2; done

plain proc; plain dev; plain sys
mount -n -t proc -o nosuid,nodev,noexec proc "$box/proc"
mount -n -t tmpfs -o mode=0755,nosuid,noexec,size=64k tmpfs "$box/dev"
(cd "$box/dev"
cp -a /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty .
chmod 666 null zero full random urandom tty
ln -s /proc/self/fd fd; ln -s fd/0 stdin; ln -s fd/1 stdout; ln -s fd/2 stderr; ln -s pts/ptmx ptmx
mkdir pts shm)
mount -n -t devpts -o nosuid,noexec,newinstance,ptmxmode=0666,mode=0620 devpts "$box/dev/pts"
mount -n -t tmpfs -o nosuid,nodev,noexec,mode=1777,size=64m tmpfs "$box/dev/shm"
for name in kcore keys kmsg timer_list timer_stats latency_stats sched_debug interrupts kpagecount kpageflags; do
  [ ! -e "$box/proc/$name" ] || mount -n --bind "$box/dev/null" "$box/proc/$name"
done
for name in acpi asound scsi; do
  [ ! -e "$box/proc/$name" ] || mount -n -t tmpfs -o ro,nosuid,nodev,noexec,size=4k tmpfs "$box/proc/$name"
done
for name in bus fs irq sys sysrq-trigger; do
  [ ! -e "$box/proc/$name" ] || mount -n -o bind,ro,nosuid,nodev,noexec "$box/proc/$name" "$box/proc/$name"
done

umount -n disk
pivot_root . "$old"
cd /
umount -n -l "/$old"
rmdir disk "$old"
mount -n -o remount,ro,nosuid,nodev /
echo "ready $pid" >&3
exec 2>&- 3>&-
shift
exec "$@"`;

/** The command that boots the sandbox; `first` is what its first process becomes in the end. */
export function bootCommand(plan: BootPlan, first: readonly string[]): string[] {
  const kit = [
    ...plan.system.links.map(({ name, target }) => ["link", name, target]),
    ...plan.system.trees
      .filter(({ path }) => !path.includes("/"))
      .map(({ path }) => ["tree", path, ""]),
  ];
  return [
    "/bin/sh",
    "-c",
    BOOT_SCRIPT,
    "bench-sandbox",
    plan.dir,
    plan.box,
    plan.disk,
    plan.rootLower,
    ...plan.treeLowers.flatMap(({ id, path, lower }) => [id, path, lower]),
    "--",
    ...kit.flat(),
    "--",
    ...plan.includes.flatMap(({ path, resolved }) => [path, resolved]),
    "--",
    ...first,
  ];
}
