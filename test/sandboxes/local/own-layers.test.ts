import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { makeOwnLayers } from "../../../sandboxes/local/root/own-layers.ts";

test("a layer has a tree's folders, and only the files that are trusted by owner or written in place", async () => {
  const host = mkdtempSync(join(tmpdir(), "own-layers-"));
  const files = {
    "usr/bin/tool": "machine's",
    "usr/lib/python3/dist-packages/plugin-1.dist-info/entry_points.txt": "[pytest11]\n",
    "usr/lib/python3/dist-packages/plugin-1.dist-info/RECORD": "",
    "usr/lib/a name\nof two lines/x": "",
    "var/lib/dpkg/status": "Package: tool\n",
    "var/lib/dpkg/info/tool.list": "/usr/bin/tool\n",
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(host, path)), { recursive: true });
    writeFileSync(join(host, path), text);
  }
  const trees = [
    { id: "usr", path: "usr" },
    { id: "var-lib-dpkg", path: "var/lib/dpkg" },
  ];
  await makeOwnLayers(join(host, "own"), trees, host);
  const own = (path: string): string => join(host, "own", path);
  expect(lstatSync(own("usr/bin")).isDirectory()).toBe(true);
  expect(lstatSync(own("usr/lib/a name\nof two lines")).isDirectory()).toBe(true);
  expect(existsSync(own("usr/bin/tool"))).toBe(false);
  const plugin = own("usr/lib/python3/dist-packages/plugin-1.dist-info");
  expect(readFileSync(join(plugin, "entry_points.txt"), "utf8")).toBe("[pytest11]\n");
  expect(existsSync(join(plugin, "RECORD"))).toBe(false);
  expect(readFileSync(own("var-lib-dpkg/status"), "utf8")).toBe("Package: tool\n");
  expect(readFileSync(own("var-lib-dpkg/info/tool.list"), "utf8")).toBe("/usr/bin/tool\n");
  await expect(makeOwnLayers(own("again"), [{ id: "gone", path: "gone" }], host)).rejects.toThrow(
    /^no layer over \/gone could be made: /u,
  );
  rmSync(host, { recursive: true });
});
