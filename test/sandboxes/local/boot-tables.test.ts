import { describe, expect, test } from "vitest";
import { type BootPlan, bootTables, escapePath } from "../../../sandboxes/local/boot-tables.ts";
import { MACHINE_POWERS, NAMESPACE_POWERS } from "../../../sandboxes/local/powers.ts";

const PLAN: BootPlan = {
  dir: "/state/sandboxes/local-1",
  powers: MACHINE_POWERS,
  base: "/state/bases/b",
  diskTemplate: "/state/bases/b/disks/512/disk.img",
  rootLower: "../../images/i/layers/root:../../bases/b/root",
  treeLowers: [
    { id: "usr", path: "usr", lower: "/usr" },
    { id: "var-lib-dpkg", path: "var/lib/dpkg", lower: "/var/lib/dpkg" },
  ],
  system: {
    trees: [
      { id: "usr", path: "usr" },
      { id: "var-lib-dpkg", path: "var/lib/dpkg" },
    ],
    links: [],
  },
  includes: [{ path: "/opt/tool kit", resolved: "/data/tools" }],
  mounts: [{ hostDir: "/cache/trees/a b", path: "/opt/bench/agent" }],
};

const targetsOf = (lines: readonly string[]): string[] =>
  lines.map((line) => line.split(" ")[1] ?? "");

describe("bootTables", () => {
  const tables = bootTables(PLAN, (name) => ["keys", "sys", "acpi"].includes(name));

  test("mounts the kit, the disk and the root first, then what lies on them", () => {
    const ns = "/state/sandboxes/local-1/ns";
    expect(targetsOf(tables.roots)).toEqual([ns, "/state/sandboxes/local-1/disk", `${ns}/box`]);
    expect(targetsOf(tables.trees)).toEqual([
      `${ns}/box/usr`,
      `${ns}/box/var/lib/dpkg`,
      `${ns}/usr`,
      `${ns}/box/opt/tool\\040kit`,
      `${ns}/box/opt/bench/agent`,
      `${ns}/box/proc`,
      `${ns}/box/dev`,
    ]);
    expect(targetsOf(tables.kernel)).toEqual([
      `${ns}/box/dev/pts`,
      `${ns}/box/dev/shm`,
      `${ns}/box/proc/keys`,
      `${ns}/box/proc/acpi`,
      `${ns}/box/proc/sys`,
    ]);
  });

  test("lets nothing in that is set-id, a device, or, of the host, writable", () => {
    const lines = [...tables.roots, ...tables.trees, ...tables.kernel].map((line) => {
      const [source = "", target = "", type = "", options = ""] = line.split(" ");
      return { source, target, type, words: options.split(",") };
    });
    // Masks are the sandbox's own /dev/null; /dev and /dev/pts hold devices.
    const others = lines.filter(({ source }) => !source.endsWith("/dev/null"));
    const plain = others.filter(({ target }) => !/\/dev(\/pts)?$/u.test(target));
    const ofHost = others.filter(({ type }) => type === "none");
    expect(others.filter(({ words }) => !words.includes("nosuid"))).toEqual([]);
    expect(plain.filter(({ words }) => !words.includes("nodev"))).toEqual([]);
    expect(ofHost.filter(({ words }) => !words.includes("ro"))).toEqual([]);
    expect([others.length, plain.length, ofHost.length]).toEqual([14, 12, 5]);
  });

  test("makes sure that no place of a mount is a link of the image's", () => {
    expect(tables.plainPaths).toEqual([
      "proc",
      "dev",
      "sys",
      "usr",
      "var/lib/dpkg",
      "opt/tool kit",
    ]);
  });

  test("of a user namespace mounts the machine's harmless devices, and overlays that need no root of it", () => {
    const plan = { ...PLAN, powers: NAMESPACE_POWERS };
    const own = bootTables(plan, (name) => name === "keys");
    expect(own.kernel.slice(0, 6)).toEqual(
      ["null", "zero", "full", "random", "urandom", "tty"].map(
        (name) => `/dev/${name} /state/sandboxes/local-1/ns/box/dev/${name} none bind 0 0`,
      ),
    );
    const overlays = [...own.roots, ...own.trees].filter((line) => line.startsWith("overlay "));
    expect(overlays).toHaveLength(3);
    expect(overlays.filter((line) => !line.includes(" userxattr,nosuid,nodev,"))).toEqual([]);
  });

  test("has no disk where there is no limit", () => {
    const { roots } = bootTables({ ...PLAN, diskTemplate: null }, () => false);
    expect(roots.some((line) => line.includes("ext4"))).toBe(false);
    expect(roots).toHaveLength(2);
  });
});

test("escapePath spells what fstab cannot hold as octal", () => {
  expect(escapePath("/a b\tc\\d\ne#f,g:h\u00A0")).toBe("/a\\040b\\011c\\134d\\012e#f,g:h\u00A0");
});
