import { describe, expect, test } from "vitest";
import { setupSandbox } from "../../../runner/setup/setup-sandbox.ts";
import { harden, workedOn } from "./harden-scene.ts";
import { sh, useWorld, WORLDS } from "./real-sandboxes.ts";

const signal = new AbortController().signal;

describe.each(WORLDS)("hardening on $name", (world) => {
  const open = useWorld(world);

  const after = async (image: string, agent: string): ReturnType<typeof workedOn> =>
    await workedOn(open, { image, agent });

  test("nothing planted means nothing removed, and root owns an empty folder for the verdict", async () => {
    const { sandbox, ready } = await after("true", "echo 42 >answer.txt");
    const hardened = await harden(sandbox, ready);
    expect(hardened).toMatchObject({ uid: 0, home: "/root", isFedora: false, imagePlugins: [] });
    expect(hardened.evidence).toMatchObject({
      changed_system_files: [],
      removed_code: [],
      removed_links: [],
      removed_bytecode: [],
      distrusted_folders: [],
      notes: [],
    });
    expect(hardened.path.length).toBeGreaterThan(0);
    expect(await sh(sandbox, "stat -c '%a %u' /logs/verifier /tests; ls /logs/verifier")).toBe(
      "700 0\n700 0",
    );
    expect(await sh(sandbox, "cat /app/answer.txt; stat -c %u /app /app/answer.txt")).toBe(
      "42\n0\n0",
    );
  });

  test("code that pytest or python would load by itself is removed and named", async () => {
    const { sandbox, ready } = await after(
      "true",
      `mkdir -p a/b "$(printf 'odd\\n\\377')" /home/agent/.local/lib
       for f in conftest.py a/b/conftest.py sitecustomize.py a/usercustomize.py; do echo x >$f; done
       echo x >"$(printf 'odd\\n\\377')/conftest.py"; ln -s answer.txt a/conftest.py
       echo x >/tmp/os.py; echo x >/var/tmp/re.py 2>/dev/null; echo x >/home/agent/.local/lib/evil.pth
       echo x >kept.py; echo x >kept.pth`,
    );
    const { evidence } = await harden(sandbox, ready);
    expect(
      [...evidence.removed_code].filter((path) => path !== "/var/tmp/re.py").toSorted(),
    ).toEqual([
      "/app/a/b/conftest.py",
      "/app/a/conftest.py",
      "/app/a/usercustomize.py",
      "/app/conftest.py",
      "/app/odd\n=FF/conftest.py",
      "/app/sitecustomize.py",
      "/home/agent/.local/lib/evil.pth",
      "/tmp/os.py",
    ]);
    expect(await sh(sandbox, "ls /app/*.p*")).toBe("/app/kept.pth\n/app/kept.py");
  });

  test("a task that wants its conftests keeps them, and only them", async () => {
    const { sandbox, ready } = await after("true", "echo x >conftest.py; echo x >sitecustomize.py");
    const { evidence } = await harden(sandbox, ready, { cleanupConftests: false });
    expect(evidence.removed_code).toEqual(["/app/sitecustomize.py"]);
  });

  test("links that leave the workspace go, those inside it, into the system or of the image stay", async () => {
    const { sandbox, ready } = await after(
      "mkdir -p /data && ln -s /data /app/data && ln -s /data /app/swapped",
      `ln -s /tests/expected.txt answer.txt; ln -s ../tests up; ln -s loop loop; ln -s /nowhere gone
       ln -s answer.txt chain; echo 1 >real; ln -s real inside; ln -s /bin/sh shell
       ln -s /home/agent home; rm swapped; ln -s /logs swapped; ln -s / "$(printf 'l\\n\\377')"`,
    );
    const { evidence } = await harden(sandbox, ready);
    const gone = ["answer.txt", "up", "loop", "gone", "home", "swapped", "l\n=FF"];
    // A link to a link that is gone leads nowhere: it may stay.
    const removed = evidence.removed_links.filter((path) => path !== "/app/chain");
    await sh(sandbox, "[ ! -e /app/chain ] && rm -f /app/chain");
    expect(removed.toSorted()).toEqual(gone.map((name) => `/app/${name}`).toSorted());
    expect(await sh(sandbox, "ls /app")).toBe("data\ninside\nreal\nshell");
  });

  test("links and pipes of the agent where tests write under fixed names go, others stay", async () => {
    const { sandbox, ready } = await after(
      "mkdir -p /data && ln -s /data /tmp/of-image",
      `echo 1 >real; ln -s /logs/verifier/reward.txt /tmp/out.log; mkfifo /tmp/pipe; mkdir /tmp/sub
       ln -s ../out.log /tmp/sub/chain; ln -s /usr/bin/diff /dev/shm/program; ln -s /app/real /tmp/work
       echo kept >/tmp/data.txt; ln -s /logs/verifier/reward.txt '/tmp/an other'`,
    );
    const { evidence } = await harden(sandbox, ready);
    expect(evidence.removed_links.toSorted()).toEqual([
      "/dev/shm/program",
      "/tmp/an other",
      "/tmp/out.log",
      "/tmp/sub/chain",
    ]);
    expect(evidence.removed_code).toEqual(["/tmp/pipe"]);
    expect(await sh(sandbox, "ls /tmp /tmp/sub; echo 1 >/tmp/out.log; ls /logs/verifier")).toBe(
      "/tmp:\ndata.txt\nof-image\nsub\nwork\n\n/tmp/sub:",
    );
  });

  test("bytecode folders of the agent go, those of the image stay", async () => {
    const { sandbox, ready } = await after(
      "mkdir -p /app/old/__pycache__",
      "mkdir -p new/__pycache__ && echo x >new/__pycache__/m.pyc",
    );
    const { evidence } = await harden(sandbox, ready);
    expect(evidence.removed_bytecode).toEqual(["/app/new/__pycache__"]);
    expect(await sh(sandbox, "ls -d /app/*/__pycache__")).toBe("/app/old/__pycache__");
  });

  test("PATH holds only folders that nobody but root can write, whole way up", async () => {
    const { sandbox, ready } = await after(
      `mkdir -p /opt/good/bin /opt/open/bin /opt/owned/bin /opt/tool/bin "/opt/with space/bin"
       chmod 777 /opt/open; chown 10001 /opt/owned/bin; echo x >/opt/tool/bin/t; chmod 666 /opt/tool/bin/t
       ln -s /opt/good /opt/link`,
      "mkdir -p bin /tmp/bin /home/agent/bin",
    );
    const dirs =
      "/opt/link/bin:/opt/good/bin:relative:/opt/open/bin:/opt/owned/bin:/opt/tool/bin:/app/bin:/tmp/bin:/home/agent/bin:/opt/with space/bin:/nowhere::";
    const { path, pythonPath, evidence } = await harden(sandbox, ready, {
      imagePath: dirs,
      pythonPath: "/app:/tmp/bin:/opt/good",
    });
    expect(path.slice(0, 2)).toEqual(["/opt/good/bin", "/opt/with space/bin"]);
    expect(
      path.filter((dir) => /open|owned|tool|app|tmp|agent|relative|nowhere/u.test(dir)),
    ).toEqual([]);
    expect(pythonPath).toEqual(["/app", "/opt/good"]);
    expect([...evidence.distrusted_folders].toSorted()).toEqual([
      "/app/bin",
      "/home/agent/bin",
      "/opt/open/bin",
      "/opt/owned/bin",
      "/opt/tool/bin",
      "/tmp/bin",
      "/tmp/bin",
    ]);
  });

  test("plugins are those that root installed for a python on that PATH", async () => {
    const { sandbox, ready } = await after(
      `site=/opt/py/lib/python3.12/site-packages; mkdir -p /opt/py/bin $site/a-1.dist-info $site/b-1.dist-info $site/c-1.dist-info
       printf '[console_scripts]\\nx = y\\n\\n[pytest11]\\nasyncio = m:n\\n cov=z\\n[other]\\nnot = me' >$site/a-1.dist-info/entry_points.txt
       printf '[pytest11]\\nwritable = m\\n' >$site/b-1.dist-info/entry_points.txt; chmod 666 $site/b-1.dist-info/entry_points.txt
       printf '[console_scripts]\\nno = m\\n' >$site/c-1.dist-info/entry_points.txt`,
      "true",
    );
    const { imagePlugins } = await harden(sandbox, ready, { imagePath: "/opt/py/bin" });
    expect(
      imagePlugins.filter((name) => ["asyncio", "cov", "writable", "not", "no"].includes(name)),
    ).toEqual(["asyncio", "cov"]);
  });

  test("a verifier that is not root owns its folder, the tests and the workspace", async () => {
    const { sandbox, ready } = await after("true", "echo 1 >work");
    const byName = await harden(sandbox, ready, { verifierUser: "agent", testsDir: "/verifier" });
    expect(byName).toMatchObject({ uid: 10_001, home: "/home/agent" });
    expect(
      await sh(
        sandbox,
        "stat -c '%a %u' /logs/verifier /verifier; stat -c %u /app/work; readlink /tests",
      ),
    ).toBe("700 10001\n700 10001\n10001\n/verifier");
    expect(await harden(sandbox, ready, { verifierUser: "4242" })).toMatchObject({ uid: 4242 });
    await expect(harden(sandbox, ready, { verifierUser: "nobody-here" })).rejects.toThrow(
      "the verifier's user nobody-here is not in this image",
    );
  });

  test("whatever stands in the verdict's place is replaced by a folder of root's own", async () => {
    const { sandbox, ready } = await after("true", "echo 1 >reward.txt");
    await sh(sandbox, "ln -s /app /logs/verifier");
    await harden(sandbox, ready);
    expect(await sh(sandbox, "[ ! -L /logs/verifier ] && ls /logs/verifier; ls /app")).toBe(
      "reward.txt",
    );
    await sh(sandbox, "rm -rf /logs && ln -s /app /logs");
    await harden(sandbox, ready);
    expect(await sh(sandbox, "[ ! -L /logs ] && stat -c '%a %u' /logs /logs/verifier")).toBe(
      "755 0\n700 0",
    );
  });

  test("a change of the system that only root could make is suspect, unless the agent was root", async () => {
    const { sandbox, ready } = await after("true", "true");
    await sh(sandbox, "sleep 1.1; echo x >/etc/planted; touch -d 2001-01-01 /etc/planted");
    const { evidence } = await harden(sandbox, ready);
    expect([evidence.integrity, evidence.changed_system_files.includes("/etc/planted")]).toEqual(
      world.hasGnuFind ? ["suspect", true] : ["not watched", false],
    );
    const ofRoot = await harden(sandbox, ready, { agentWasRoot: true });
    expect(ofRoot.evidence).toMatchObject({ integrity: "not watched", changed_system_files: [] });
  });

  test("a workspace at root's home gives the verifier another one", async () => {
    const sandbox = await open.makeSandbox();
    const ready = await setupSandbox(sandbox, { userName: "agent", workdir: "/root", signal });
    await sh(sandbox, "mkdir -p .local/bin && echo evil >.bashrc", { uid: 10_001, cwd: "/root" });
    const { home } = await harden(sandbox, ready);
    expect(home).toBe("/run/verifier-home");
    expect(await sh(sandbox, `ls -A ${home}; stat -c '%a %u' ${home}`)).toBe("700 0");
  });

  test("a workspace that was replaced by a link becomes a folder again", async () => {
    const sandbox = await open.makeSandbox();
    await sh(sandbox, "mkdir -p /srv/work/app && chown 10001 /srv/work");
    const ready = await setupSandbox(sandbox, {
      userName: "agent",
      workdir: "/srv/work/app",
      signal,
    });
    await sh(sandbox, "cd /srv/work && mv app old && ln -s /etc app", { uid: 10_001 });
    const { evidence } = await harden(sandbox, ready);
    expect(evidence.notes).toEqual([
      "the workspace had been replaced by something that is no folder",
    ]);
    expect(
      await sh(sandbox, "[ ! -L /srv/work/app ] && ls -A /srv/work/app; stat -c %u /etc/passwd"),
    ).toBe("0");
  });
});
