/** Number of exit(2), which ends one thread and not its process. */
const EXIT_CALLS: Readonly<Record<string, number>> = { x64: 60, arm64: 93 };

/**
 * A perl program whose first thread ends while another one runs on: the kernel shows the process as a
 * zombie, and it is none.
 */
export const LEADERLESS = `use threads; threads->create(sub { sleep 1 while 1 }); syscall(${String(EXIT_CALLS[process.arch])}, 0);`;

/** Whether the first thread of that program has ended, from the text of its /proc/PID/status. */
export function isLeaderless(status: string): boolean {
  return /^State:\s+Z/mu.test(status) && /^Threads:\s+2$/mu.test(status);
}
