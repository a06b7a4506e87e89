import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { identifyProcess } from "../../../../host/process-identity.ts";
import type { Sandbox } from "../../../../core/ports/sandbox.ts";
import { openLocal, run } from "../open-local.ts";
import { runRequest } from "../requests.ts";

/** Does to the sandboxes of an ordinary user what their design must bear, and prints what came of it as JSON. */
const AGENT = 10_001;
/** No output of it, so that nothing but its processes can be waited for; each ignores what it can. */
const BOMB = `perl -e '$SIG{$_} = "IGNORE" for qw(TERM INT HUP CONT); while (1) { fork; setpgrp }'`;
const PATH = "/usr/local/bin:/usr/bin:/bin";

const local = await openLocal([], join(mkdtempSync(join(tmpdir(), "local-walls-")), "state"));
const found = {
  bombs: [await bomb(AGENT), await bomb(0)],
  killedUser: await killUserOf(await local.create()),
  system: await changeSystem(await local.create()),
  images: await buildImages(),
  withoutReaper: await killReaper(await local.create()),
  nobody: await refusalOf(await local.create(), 65_534),
};
await local.close();
process.stdout.write(JSON.stringify(found));

/** How a command that is a fork bomb ends at its deadline, and what is left of it. */
async function bomb(uid: number): Promise<object> {
  const [sandbox, neighbour] = await Promise.all([local.create(), local.create()]);
  const done = await sandbox.exec({
    argv: ["/bin/sh", "-c", BOMB],
    uid,
    cwd: "/",
    env: { PATH },
    timeoutMs: 1000,
  });
  const left = await countOf(sandbox, "perl");
  const beside = await run(neighbour, "echo alive", AGENT);
  return { timedOut: done.timedOut, left, beside: beside.out };
}

async function killUserOf(sandbox: Sandbox): Promise<object> {
  const command = {
    argv: ["/bin/sh", "-c", BOMB] as [string, ...string[]],
    cwd: "/",
    env: { PATH },
  };
  const process = await sandbox.spawn({ ...command, uid: AGENT });
  await sandbox.exec({ argv: ["sleep", "1"], uid: 0, cwd: "/", env: { PATH } });
  const grown = await countOf(sandbox, "perl");
  const left = await sandbox.killUser(AGENT);
  await process.exitCode;
  return { hasGrown: grown > 20, left, seen: await countOf(sandbox, "perl -e $SIG") };
}

/** Processes inside whose command line begins with the word, the reapers of commands not among them. */
async function countOf(sandbox: Sandbox, word: string): Promise<number> {
  const script = `for f in /proc/[0-9]*/cmdline; do words=$(tr '\\0' ' ' < $f 2>/dev/null); case $words in *splice*) ;; '${word}'*) echo x ;; esac; done | wc -l`;
  return Number((await run(sandbox, script)).out);
}

/** What root inside can do with the machine's programs, each as the exit code of its attempt. */
async function changeSystem(sandbox: Sandbox): Promise<object> {
  const attempts = {
    add: "echo 'echo added' > /usr/local/bin/added && chmod 755 /usr/local/bin/added && added",
    replace:
      "printf '#!/bin/sh\\necho replaced\\n' > /usr/bin/new && chmod 755 /usr/bin/new && mv /usr/bin/new /usr/bin/base64 && base64",
    remove: "rm /usr/bin/md5sum && ! command -v md5sum",
    copyOver: "cp --remove-destination /usr/bin/true /usr/bin/false && false",
    makeFolder:
      "mkdir -p /usr/lib/python3/dist-packages/own && mv /usr/lib/python3/dist-packages/own /usr/share/own",
    writeInPlace: "echo x >> /usr/bin/env",
    changeMode: "chmod 777 /usr/bin/env",
    packages: "dpkg -s base-files > /dev/null && dpkg --configure -a",
  };
  const said: Record<string, string> = {};
  for (const [name, script] of Object.entries(attempts)) {
    const { code, out, err } = await run(sandbox, script);
    said[name] = [String(code), out, err.split("\n")[0] ?? ""].join(" ").trim();
  }
  said["agent"] = String(
    (await run(sandbox, "echo x > /usr/local/bin/y || rm /usr/bin/tac", AGENT)).code,
  );
  const { out } = await run(
    await local.create(),
    "base64 < /dev/null; md5sum < /dev/null; false; echo $?",
  );
  return { ...said, otherSandbox: out };
}

async function buildImages(): Promise<object> {
  const built = await build(
    "FROM debian:12\nRUN echo 'echo built' > /usr/local/bin/built && chmod 755 /usr/local/bin/built && rm /usr/bin/tac\n",
    "1",
  );
  if (typeof built === "string") return { built };
  const sandbox = await local.create(built);
  const { out } = await run(sandbox, "built; command -v tac || echo no tac");
  return {
    built: out,
    refused: await build("FROM debian:12\nRUN true\nRUN echo x >> /usr/bin/env\n", "2"),
  };
}

async function build(dockerfile: string, digest: string) {
  const contextDir = mkdtempSync(join(tmpdir(), "context-"));
  writeFileSync(join(contextDir, "Dockerfile"), dockerfile);
  try {
    const { image } = runRequest({ process: identifyProcess(), contextDir, digest });
    return await local.backend.prepare(image);
  } catch (error) {
    return String(error);
  }
}

/** Root inside ends everything that waits for its command: the command is over, the sandbox is not. */
async function killReaper(sandbox: Sandbox): Promise<object> {
  const started = performance.now();
  const argv: [string, ...string[]] = [
    "/bin/sh",
    "-c",
    "for f in /proc/[0-9]*/cmdline; do grep -q splice $f && kill -9 $(echo $f | tr -dc 0-9); done; sleep 60",
  ];
  const mark = await sandbox.mark();
  const done = await sandbox.exec({ argv, uid: 0, cwd: "/", env: { PATH }, timeoutMs: 30_000 });
  const seconds = (performance.now() - started) / 1000;
  const left = await sandbox.killSince(mark);
  return {
    code: done.exitCode,
    isSoon: seconds < 10,
    left,
    sleepers: await countOf(sandbox, "sleep 60"),
    usable: (await run(sandbox, "echo yes")).out,
  };
}

async function refusalOf(sandbox: Sandbox, uid: number): Promise<string> {
  return await run(sandbox, "true", uid).then(
    () => "went",
    (error: unknown) => String(error),
  );
}
