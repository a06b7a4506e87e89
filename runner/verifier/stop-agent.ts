import { type ProcessMark, type Sandbox, SandboxError } from "../../core/ports/sandbox.ts";

/**
 * Ends the agent: every process of its uid, then every process that was not there before it
 * started, whoever it runs as (an oracle is root). Resolves only when both counts were seen to be
 * zero, which is the proof that tests may enter the sandbox (design 5); else throws `lost`, because
 * a sandbox that cannot be emptied is no place to verify in.
 */
export async function stopAgent(
  sandbox: Sandbox,
  { uid, mark }: { uid: number; mark: ProcessMark },
): Promise<void> {
  const ofUser = uid === 0 ? 0 : await sandbox.killUser(uid);
  const since = await sandbox.killSince(mark);
  const left = ofUser + since;
  if (left > 0) throw new SandboxError("lost", `${left} processes of the agent could not be ended`);
}
