import { SandboxError } from "../../core/ports/sandbox.ts";
import type { AgentRun } from "./agent.ts";

/**
 * Puts a link in the place of each folder; what the image has there belongs to another run. Run as the
 * agent's user, so that no link of the image's leads root anywhere.
 */
const LINK_SCRIPT = String.raw`
set -eu
skills=$1
shift
for folder in "$@"; do
  mkdir -p "$(dirname "$HOME/$folder")"
  rm -rf "$HOME/$folder"
  ln -s "$skills" "$HOME/$folder"
done
`;

/**
 * Leads the folders in which an agent looks for skills to where the run's lie. Throws `SandboxError`:
 * an agent that was promised skills and has none would be measured for another run.
 */
export async function linkSkills(run: AgentRun, dirs: readonly string[]): Promise<void> {
  const { sandbox, skillsPath = null, uid, home, env, signal } = run;
  if (skillsPath === null) return;
  const linked = await sandbox.exec({
    argv: ["/bin/sh", "-c", LINK_SCRIPT, "sh", skillsPath, ...dirs],
    uid,
    cwd: "/",
    env: { ...env, HOME: home },
    timeoutMs: 60_000,
    signal,
  });
  if (linked.exitCode === 0) return;
  const said = new TextDecoder().decode(linked.stderr).trim().slice(0, 300);
  throw new SandboxError("start-failed", `the skills cannot be put before the agent: ${said}`);
}
