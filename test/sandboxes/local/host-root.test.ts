import { createHash } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeAccountFiles } from "../../../sandboxes/local/root/account-files.ts";
import { NAMESPACE_POWERS } from "../../../sandboxes/local/powers.ts";
import { openBaseRoot } from "../../../sandboxes/local/root/base-root.ts";
import { copyEtc } from "../../../sandboxes/local/root/etc-files.ts";
import { findSystemTrees, readHostFamily } from "../../../sandboxes/local/root/host-facts.ts";
import { StateFolder } from "../../../sandboxes/local/state-folder.ts";
import { tempFolder } from "../../setup/temp-folder.ts";

function hostWith(files: Readonly<Record<string, string>>): string {
  const root = tempFolder("host-root");
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

function md5(text: string): string {
  return createHash("md5").update(text).digest("hex");
}

/** The key of the base of a machine with these accounts. */
async function keyWith(passwd: string): Promise<string> {
  const host = hostWith({ "etc/passwd": passwd, "etc/group": "root:x:0:\n" });
  const dir = tempFolder("base-key");
  // Only root can make devices, and they are no part of the key.
  const { key } = await openBaseRoot(new StateFolder(dir), [], NAMESPACE_POWERS, host);
  for (const folder of [host, dir]) rmSync(folder, { recursive: true });
  return key;
}

test("a person more on the machine makes no other base, a system account does", async () => {
  const system = "root:x:0:0::/root:/bin/sh\n";
  const key = await keyWith(system);
  expect(await keyWith(`${system}ada:x:1000:1000::/home/ada:/bin/sh\n`)).toBe(key);
  expect(await keyWith(`${system}www:x:33:33::/var/www:/bin/sh\n`)).not.toBe(key);
});

describe("copyEtc", () => {
  test("takes a package's file as it came, and not one that was changed, added or replaced by a link", () => {
    const host = hostWith({
      "etc/pristine.conf": "as packaged",
      "etc/changed.conf": "password=secret",
      "etc/wgetrc": "proxy_password=secret",
      "etc/ssl/private/key.pem": "PRIVATE KEY",
      "etc/shadow": "root:$6$hash:1::::::",
      "elsewhere/secret": "as packaged",
      "var/lib/dpkg/status": `Package: one\nConffiles:\n /etc/pristine.conf ${md5("as packaged")}\n /etc/changed.conf ${md5("as packaged")}\n /etc/linked.conf ${md5("as packaged")}\n /etc/gone.conf ${md5("x")}\n /etc/old.conf ${md5("x")} obsolete\n`,
    });
    symlinkSync("/elsewhere/secret", join(host, "etc/linked.conf"));
    const target = tempFolder("etc");
    copyEtc(host, target);
    expect(readdirSync(target)).toEqual(["pristine.conf"]);
    expect(readFileSync(join(target, "pristine.conf"), "utf8")).toBe("as packaged");
  });

  test("takes what packages generate, links as links, and no address with a login in it", () => {
    const host = hostWith({
      "etc/ssl/certs/ca-certificates.crt": "CERTIFICATES",
      "etc/ld.so.cache": "cache",
      "etc/apt/sources.list": "deb http://deb.debian.org/debian bookworm main\n",
      "etc/apt/sources.list.d/private.list":
        "deb https://me:token@packages.example.com/ stable main\n",
      "etc/apt/auth.conf": "machine packages.example.com login me password token",
      "etc/apt/auth.conf.d/one.conf": "machine packages.example.com login me password token",
    });
    mkdirSync(join(host, "etc/alternatives"));
    symlinkSync("/usr/bin/vim.tiny", join(host, "etc/alternatives/vi"));
    const target = tempFolder("etc");
    copyEtc(host, target);
    expect(readlinkSync(join(target, "alternatives/vi"))).toBe("/usr/bin/vim.tiny");
    expect(readdirSync(join(target, "apt")).toSorted()).toEqual(["sources.list", "sources.list.d"]);
    expect(readdirSync(join(target, "apt/sources.list.d"))).toEqual([]);
    expect(existsSync(join(target, "ssl/certs/ca-certificates.crt"))).toBe(true);
  });

  test("keeps no set-id bit and no write permission of groups or others", () => {
    const text = "as packaged";
    const host = hostWith({
      "etc/a.conf": text,
      "var/lib/dpkg/status": `Conffiles:\n /etc/a.conf ${md5(text)}\n`,
    });
    const target = tempFolder("etc");
    copyEtc(host, target);
    expect(lstatSync(join(target, "a.conf")).mode & 0o7022).toBe(0);
  });
});

describe("makeAccountFiles", () => {
  const files = makeAccountFiles(
    "root:x:0:0:root:/root:/bin/bash\n_apt:x:42:65534::/nonexistent:/usr/sbin/nologin\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\nalice:x:1000:1000:Alice Person,,,:/home/alice:/bin/zsh\nodd line\nevil:x:0x:1::/:/bin/sh\n",
    "root:x:0:\nsudo:x:27:alice\nmail:x:8:_apt,alice\nalice:x:1000:\nnogroup:x:65534:\n",
  );

  test("keeps system accounts and no person", () => {
    expect(files.passwd).toBe(
      "root:x:0:0::/root:/bin/bash\n_apt:x:42:65534::/nonexistent:/usr/sbin/nologin\nnobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n",
    );
    expect(files.group).toBe("root:x:0:\nsudo:x:27:\nmail:x:8:_apt\nnogroup:x:65534:\n");
    expect(JSON.stringify(files)).not.toMatch(/alice|Alice/u);
  });

  test("locks every account", () => {
    for (const line of files.shadow.trim().split("\n")) expect(line.split(":")[1]).toBe("*");
    expect(files.shadow.trim().split("\n")).toHaveLength(3);
  });

  test("has root even where the host's file has not", () => {
    expect(makeAccountFiles("", "").passwd).toBe("root:x:0:0::/root:/bin/sh\n");
  });
});

describe("host facts", () => {
  test("tell merged folders, which are links, from those that are trees of their own", () => {
    const merged = hostWith({ "usr/bin/a": "", "usr/lib64/b": "", "var/lib/dpkg/status": "" });
    symlinkSync("usr/bin", join(merged, "bin"));
    expect(findSystemTrees(merged)).toEqual({
      trees: [
        { id: "usr", path: "usr" },
        { id: "var-lib-dpkg", path: "var/lib/dpkg" },
      ],
      links: [{ name: "bin", target: "usr/bin" }],
    });
    const split = hostWith({ "usr/bin/a": "", "bin/b": "", "lib/c": "" });
    expect(findSystemTrees(split).trees.map(({ path }) => path)).toEqual(["usr", "bin", "lib"]);
  });

  test("read the family from os-release, quoted or not, and its second place", () => {
    const ubuntu = hostWith({
      "etc/os-release": 'ID=ubuntu\nID_LIKE="debian"\nVERSION_ID="24.04"\nVERSION_CODENAME=noble\n',
    });
    expect(readHostFamily(ubuntu)).toEqual({
      id: "ubuntu",
      versionId: "24.04",
      codename: "noble",
      like: ["ubuntu", "debian"],
    });
    expect(readHostFamily(hostWith({ "usr/lib/os-release": "ID='fedora'\n" })).like).toEqual([
      "fedora",
    ]);
    expect(readHostFamily(hostWith({})).id).toBe("unknown");
  });
});
