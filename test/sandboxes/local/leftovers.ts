import { execFileSync, spawnSync } from "node:child_process";
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
    // The cgroups name a sandbox's processes, its mounts do, and so do its starters' arguments; without
    // cgroups the environment of its first process does.
    const isZombie = /\) [ZX] /u.test(text("stat"));
    const trace = ["cgroup", "mountinfo", "cmdline", "environ"].find((file) =>
      text(file).includes(id),
    );
    if (!isZombie && trace !== undefined)
      found.push(`process ${pid} by its ${trace}: ${text("stat").slice(0, 60)}`);
  }
  found.push(...groupsNamed(id).map((dir) => `cgroup ${dir}`));
  found.push(...lines(execFileSync("losetup", ["-a"])).filter((line) => line.includes(id)));
  found.push(
    ...readFileSync("/proc/self/mountinfo", "utf8")
      .split("\n")
      .filter((line) => line.includes(id)),
  );
  return found;
}

/** Other sandboxes come and go meanwhile, which `find` calls an error. */
function groupsNamed(id: string): string[] {
  const args = ["/sys/fs/cgroup", "-maxdepth", "6", "-type", "d", "-name", `*${id}*`];
  return lines(spawnSync("find", args, { encoding: "buffer" }).stdout);
}

function lines(output: Buffer): string[] {
  return output.toString().split("\n").filter(Boolean);
}

/** Processes, mounts, cgroups and loop devices of any local sandbox of this state folder. */
export function machineLeftovers(stateDir: string): string[] {
  const mounts = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
  const loops = lines(execFileSync("losetup", ["-a"]));
  return [...mounts, ...loops].filter((line) => line.includes(stateDir));
}
