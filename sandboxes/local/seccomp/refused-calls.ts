/**
 * System calls that Docker's default profile refuses to a container with our bounding set, by name
 * and by number on x86_64, i386 and arm64 (`-`: the architecture has none). Calls that no kernel
 * implements any more are left out. Docker's list is an allowlist; this is its complement, so that a
 * number above `NEWEST_CALL` counts as unknown.
 */
const REFUSED_CALLS = `
acct 163 51 89
add_key 248 286 217
bpf 321 357 280
clock_settime 227 264 112
clock_settime64 - 404 -
delete_module 176 129 106
fanotify_init 300 338 262
finit_module 313 350 273
fsconfig 431 431 431
fsmount 432 432 432
fsopen 430 430 430
fspick 433 433 433
get_mempolicy 239 275 236
init_module 175 128 105
io_uring_enter 426 426 426
io_uring_register 427 427 427
io_uring_setup 425 425 425
ioperm 173 101 -
iopl 172 110 -
kcmp 312 349 272
kexec_file_load 320 - 294
kexec_load 246 283 104
keyctl 250 288 219
lookup_dcookie 212 253 18
mbind 237 274 235
migrate_pages 256 294 238
mount 165 21 40
mount_setattr 442 442 442
move_mount 429 429 429
move_pages 279 317 239
open_by_handle_at 304 342 265
open_tree 428 428 428
perf_event_open 298 336 241
pidfd_getfd 438 438 438
pivot_root 155 217 41
process_madvise 440 440 440
quotactl 179 131 60
quotactl_fd 443 443 443
reboot 169 88 142
request_key 249 287 218
set_mempolicy 238 276 237
set_mempolicy_home_node 450 450 450
setdomainname 171 121 162
sethostname 170 74 161
setns 308 346 268
settimeofday 164 79 170
stime - 25 -
swapoff 168 115 225
swapon 167 87 224
sysfs 139 135 -
syslog 103 103 116
umount - 22 -
umount2 166 52 39
unshare 272 310 97
userfaultfd 323 374 282
ustat 136 62 -
vhangup 153 111 58
vm86 - 166 -
vm86old - 113 -
lsm_get_self_attr 459 459 459
lsm_set_self_attr 460 460 460
lsm_list_modules 461 461 461
`;

/** removexattrat, the newest call that the profile knows. */
export const NEWEST_CALL = 466;

export type CallTable = "x64" | "x86" | "arm64";

/** The calls whose arguments decide, and clone3, whose arguments a filter cannot read. */
export interface JudgedCalls {
  readonly clone: number;
  readonly clone3: number;
  readonly socket: number;
  readonly personality: number;
}

export const JUDGED_CALLS: Readonly<Record<CallTable, JudgedCalls>> = {
  x64: { clone: 56, clone3: 435, socket: 41, personality: 135 },
  x86: { clone: 120, clone3: 435, socket: 359, personality: 136 },
  arm64: { clone: 220, clone3: 435, socket: 198, personality: 92 },
};

/** Refused calls of one architecture: name to number. */
export function refusedCalls(table: CallTable): Map<string, number> {
  const column = { x64: 1, x86: 2, arm64: 3 }[table];
  const calls = new Map<string, number>();
  for (const line of REFUSED_CALLS.trim().split("\n")) {
    const fields = line.split(" ");
    const number = fields[column] ?? "-";
    if (number !== "-") calls.set(fields[0] ?? "", Number(number));
  }
  return calls;
}
