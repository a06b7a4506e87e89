import { describe, expect, test } from "vitest";
import { type ReadySandbox, setupSandbox } from "../../../runner/setup/setup-sandbox.ts";
import type { Sandbox } from "../../../core/ports/sandbox.ts";
import { sh, useWorld, WORLDS } from "./real-sandboxes.ts";

const signal = new AbortController().signal;

async function setUp(
  sandbox: Sandbox,
  workdir = "/app",
  userName = "agent",
): Promise<ReadySandbox> {
  return await setupSandbox(sandbox, { userName, workdir, signal });
}

describe.each(WORLDS)("set-up on $name", (world) => {
  const open = useWorld(world);

  test("the agent gets a user, a home, the workspace and two log folders, and nothing else", async () => {
    const sandbox = await open.makeSandbox();
    await sh(sandbox, "mkdir -p /app/sub /outputs /solution && echo x >/app/sub/file");
    const ready = await setUp(sandbox);
    expect(ready).toMatchObject({ agentUid: 10_001, agentHome: "/home/agent", workdir: "/app" });
    const asAgent = { uid: ready.agentUid };
    expect(await sh(sandbox, "id -u; id -G", asAgent)).toBe("10001\n10001");
    const own = [
      "/app",
      "/app/sub/file",
      "/home/agent",
      "/logs/agent",
      "/logs/artifacts",
      "/outputs",
    ];
    for (const path of own)
      expect(await sh(sandbox, `[ -w ${path} ] && stat -c %u ${path}`, asAgent)).toBe("10001");
    for (const path of ["/", "/logs", "/etc", "/usr", "/usr/bin", "/root", "/solution"])
      await expect(sh(sandbox, `[ ! -w ${path} ]`, asAgent)).resolves.toBe("");
    await expect(sh(sandbox, "ls /solution", asAgent)).rejects.toThrow("denied");
    await expect(sh(sandbox, "ls /logs/.reserve", asAgent)).rejects.toThrow("denied");
    await expect(sh(sandbox, "ls /logs/verifier", asAgent)).rejects.toThrow("No such file");
  });

  test("no set-id bit, no password and no rule leads to another user", async () => {
    const sandbox = await open.makeSandbox();
    await sh(
      sandbox,
      `cp /bin/sh /opt/suid 2>/dev/null || { mkdir -p /opt && cp /bin/sh /opt/suid; }
       chmod 6755 /opt/suid; mkdir -p /etc/sudoers.d
       echo 'agent ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/agent
       printf 'open::0:0:99999:7:::\\nhashed:$6$abc:0:0:99999:7:::\\n' >>/etc/shadow
       printf 'open::77:77::/:/bin/sh\\n' >>/etc/passwd
       mkdir -p /usr/local/bin && chmod 777 /usr/local/bin && touch /usr/local/bin/tool && chmod 666 /usr/local/bin/tool`,
    );
    await setUp(sandbox);
    expect(await sh(sandbox, "find / -xdev -type f \\( -perm -4000 -o -perm -2000 \\)")).toBe("");
    expect(await sh(sandbox, "grep -c NOPASSWD /etc/sudoers.d/agent || true")).toBe("0");
    expect(await sh(sandbox, "cut -d: -f2 /etc/shadow | grep -v '^[!*]' || true")).toBe("");
    expect(await sh(sandbox, "cut -d: -f2 /etc/passwd | sort -u")).toBe("x");
    expect(await sh(sandbox, "stat -c %a /usr/local/bin /usr/local/bin/tool")).toBe("755\n664");
  });

  test("links in the place of log and output folders are not followed", async () => {
    const sandbox = await open.makeSandbox();
    await sh(
      sandbox,
      "mkdir -p /logs /victim && ln -s /victim /logs/agent && ln -s /victim /outputs",
    );
    await setUp(sandbox);
    expect(await sh(sandbox, "stat -c %u /victim")).toBe("0");
    expect(await sh(sandbox, "[ ! -L /logs/agent ] && stat -c %u /logs/agent")).toBe("10001");
  });

  test("an image's own user of that name keeps its uid, and one that is root is refused", async () => {
    const sandbox = await open.makeSandbox();
    await sh(sandbox, "echo 'agent:x:1234:1234::/srv/agent:/bin/sh' >>/etc/passwd");
    expect(await setUp(sandbox)).toMatchObject({ agentUid: 1234, agentHome: "/srv/agent" });
    const other = await open.makeSandbox();
    await expect(setUp(other, "/app", "root")).rejects.toMatchObject({
      failure: "unsupported",
      message: "sandbox set-up: user root is root in this image",
    });
  });

  test("a user whose home is the system's is refused, and nothing is given to it", async () => {
    const sandbox = await open.makeSandbox();
    await sh(sandbox, "mkdir -p /usr/sbin; echo 'tool:x:77:77::/usr/sbin:/bin/sh' >>/etc/passwd");
    await expect(setUp(sandbox, "/app", "tool")).rejects.toMatchObject({
      failure: "unsupported",
      message: "sandbox set-up: the home /usr/sbin of user tool belongs to the system",
    });
    expect(await sh(sandbox, "stat -c %u /usr/sbin")).toBe("0");
  });

  test("a last line without its end is read, and the agent's comes behind it", async () => {
    const sandbox = await open.makeSandbox();
    await sh(
      sandbox,
      "printf 'last::77:77::/:/bin/sh' >>/etc/passwd && printf 'last::0:0:::' >>/etc/shadow && printf g:x:77: >>/etc/group",
    );
    expect(await setUp(sandbox)).toMatchObject({ agentUid: 10_001 });
    expect(await sh(sandbox, "tail -n 2 /etc/passwd | cut -d: -f1-3")).toBe(
      "last:x:77\nagent:x:10001",
    );
    expect(await sh(sandbox, "tail -n 2 /etc/shadow | cut -d: -f1-2")).toBe("last:!\nagent:!");
    expect(await sh(sandbox, "tail -n 2 /etc/group")).toBe("g:x:77:\nagent:x:10001:");
  });

  test.each(["/", "/usr", "/etc", "/proc", "/tests", "/logs/agent", "/usr/../etc"])(
    "the workspace %s belongs to the system and is refused",
    async (workdir) => {
      const sandbox = await open.makeSandbox();
      await expect(setUp(sandbox, workdir)).rejects.toMatchObject({ failure: "unsupported" });
      expect(await sh(sandbox, "stat -c %u /etc/passwd /etc")).toBe("0\n0");
    },
  );

  test("a workspace whose name shell could read as a command is only a name", async () => {
    const sandbox = await open.makeSandbox();
    const ready = await setUp(sandbox, "/w; touch /tmp/pwned #$(id)`id` '\"");
    expect(ready.workdir).toBe("/w; touch /tmp/pwned #$(id)`id` '\"");
    await expect(sh(sandbox, "[ ! -e /tmp/pwned ]")).resolves.toBe("");
  });

  test("the baseline knows the image's bytecode, links and build files, bytes and all", async () => {
    const sandbox = await open.makeSandbox();
    await sh(
      sandbox,
      `mkdir -p /app/pkg/__pycache__ && ln -s /data /app/data && echo all: >/app/Makefile
       mkdir -p "/app/$(printf 'l\\n\\377')/__pycache__"`,
    );
    const { baseline } = await setUp(sandbox);
    expect([...baseline.bytecodeFolders].toSorted()).toEqual([
      "/app/l\n\u00ff/__pycache__",
      "/app/pkg/__pycache__",
    ]);
    expect(baseline.links).toEqual(["/app/data -> /data"]);
    expect([...baseline.loaded.configs.keys()]).toEqual(["Makefile"]);
    expect(baseline.loaded.configs.get("Makefile")).toMatch(/^[0-9a-f]{64}$/u);
    expect(baseline.takenAt).toMatch(/^\d+(?:\.\d+)?$/u);
  });

  test("root's tools in dot folders are copied to the agent, its keys are not", async () => {
    const sandbox = await open.makeSandbox();
    await sh(
      sandbox,
      "mkdir -p /root/.local/bin /root/.ssh && echo t >/root/.local/bin/tool && echo k >/root/.ssh/id && chmod 4755 /root/.local/bin/tool",
    );
    await setUp(sandbox);
    const asAgent = { uid: 10_001 };
    const copies = "/root/.local/bin/tool /home/agent/.local/bin/tool";
    expect(await sh(sandbox, `stat -c %a ${copies}`)).toBe("755\n755");
    expect(await sh(sandbox, "cat /home/agent/.local/bin/tool", asAgent)).toBe("t");
    await expect(sh(sandbox, "cat /home/agent/.ssh/id", asAgent)).rejects.toThrow("No such file");
    await expect(sh(sandbox, "ls /root", asAgent)).rejects.toThrow("denied");
  });
});
