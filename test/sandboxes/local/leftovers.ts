import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** What this machine holds of a local sandbox, found without the code under test. */
export function leftoversOf(stateDir: string, id: string): string[] {
  const found: string[] = [];
  if (existsSync(join(stateDir, "sandboxes", id))) found.push(`folder ${id}`);
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/u.test(name))) {
    const text = (file: string): string => {
      try {
        return readFileSync(`/proc/${pid}/${file}`, "latin1");
      } catch {
        return "";
      }
    };
    // The cgroups name a sandbox's processes, its mounts do, and so do its starters' arguments.
    const isZombie = /\) Z /u.test(text("stat"));
    if (
      !isZombie &&
      [text("cgroup"), text("mountinfo"), text("cmdline")].some((file) => file.includes(id))
    )
      found.push(`process ${pid} ${text("cmdline").replaceAll("\0", " ").slice(0, 60)}`);
  }
  const groups = execFileSync("find", [
    "/sys/fs/cgroup",
    "-maxdepth",
    "6",
    "-type",
    "d",
    "-name",
    `*${id}*`,
  ]);
  found.push(...lines(groups).map((dir) => `cgroup ${dir}`));
  found.push(...lines(execFileSync("losetup", ["-a"])).filter((line) => line.includes(id)));
  found.push(
    ...readFileSync("/proc/self/mountinfo", "utf8")
      .split("\n")
      .filter((line) => line.includes(id)),
  );
  return found;
}

function lines(output: Buffer): string[] {
  return output.toString().split("\n").filter(Boolean);
}
