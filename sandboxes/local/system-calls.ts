import { SandboxError } from "../../core/ports/sandbox.ts";

/** Numbers of the system calls that our perl programs make: perl-base has no names for them. */
interface CallNumbers {
  readonly prctl: number;
  readonly close: number;
  readonly capget: number;
  readonly capset: number;
  readonly setgroups: number;
  readonly setresgid: number;
  readonly setresuid: number;
  readonly setns: number;
  readonly prlimit: number;
}

type CallArch = "x64" | "arm64";

const CALLS: Readonly<Record<CallArch, CallNumbers>> = {
  x64: {
    prctl: 157,
    close: 3,
    capget: 125,
    capset: 126,
    setgroups: 116,
    setresgid: 119,
    setresuid: 117,
    setns: 308,
    prlimit: 302,
  },
  arm64: {
    prctl: 167,
    close: 57,
    capget: 90,
    capset: 91,
    setgroups: 159,
    setresgid: 149,
    setresuid: 147,
    setns: 268,
    prlimit: 261,
  },
};

/** This processor's; whether they are known is asked first, by `callArch`. */
export function systemCalls(): CallNumbers {
  const arch = callArch();
  if (arch === null)
    throw new SandboxError("unsupported", `no system calls are known for ${process.arch}`);
  return CALLS[arch];
}

/** The processor, where its system calls are known. */
export function callArch(): CallArch | null {
  const { arch } = process;
  return arch === "x64" || arch === "arm64" ? arch : null;
}
