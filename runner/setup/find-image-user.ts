import { type Sandbox, SandboxError } from "../../core/ports/sandbox.ts";

export interface ImageUser {
  readonly uid: number;
  readonly home: string;
}

/** What nearly every image says, and needs no look into it. */
const ROOT: ReadonlySet<string> = new Set(["", "root", "0", "root:root", "0:0"]);
const TABLES = ["/etc/passwd", "/etc/group"] as const;
const MAX_TABLE_BYTES = 1024 * 1024;

/**
 * The uid of a `USER` as an image gives it: names and numbers, with or without a group; "" is root.
 * Throws `SandboxError`: `start-failed` for one that the image's tables do not have, `unsupported` for
 * one whose group has another number than the user, which no command of a sandbox can be started with.
 */
export async function findImageUser(
  sandbox: Sandbox,
  spec: string,
  signal: AbortSignal,
): Promise<ImageUser> {
  if (ROOT.has(spec)) return { uid: 0, home: "/root" };
  const [name = "", group] = spec.split(":");
  const [accounts, groups] = await readTables(sandbox, signal);
  const account = accounts.find((fields) => fields[0] === name || fields[2] === name);
  const uid = numberOf(name) ?? numberOf(account?.[2]);
  if (uid === null) throw failed("start-failed", `the image has no user ${JSON.stringify(name)}`);
  const found = groups.find((fields) => fields[0] === group || fields[2] === group);
  const gid =
    group === undefined ? (numberOf(account?.[3]) ?? 0) : (numberOf(group) ?? numberOf(found?.[2]));
  if (gid === null) throw failed("start-failed", `the image has no group ${String(group)}`);
  if (gid !== uid) {
    const what = `the image's user ${JSON.stringify(spec)} has uid ${String(uid)} and gid ${String(gid)}`;
    throw failed("unsupported", `${what}, and its ENTRYPOINT is run only where they are equal`);
  }
  return { uid, home: account?.[5] ?? "/" };
}

async function readTables(
  sandbox: Sandbox,
  signal: AbortSignal,
): Promise<[string[][], string[][]]> {
  const [accounts, groups] = await Promise.all(
    TABLES.map(async (path) => {
      const { stdout } = await sandbox.exec({
        argv: ["/bin/sh", "-c", 'cat -- "$1" 2>/dev/null', "sh", path],
        uid: 0,
        cwd: "/",
        env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" },
        timeoutMs: 30_000,
        maxOutputBytes: MAX_TABLE_BYTES,
        signal,
      });
      const lines = new TextDecoder().decode(stdout).split("\n");
      return lines.map((line) => line.split(":"));
    }),
  );
  return [accounts ?? [], groups ?? []];
}

function numberOf(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,9}$/u.test(text) ? Number(text) : null;
}

function failed(failure: "start-failed" | "unsupported", message: string): SandboxError {
  return new SandboxError(failure, message);
}
