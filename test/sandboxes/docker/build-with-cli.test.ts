import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { buildWithCli } from "../../../sandboxes/docker/build-with-cli.ts";
import { makeRecipe } from "../../../sandboxes/docker/build-recipe.ts";
import { tempFolder } from "../../setup/temp-folder.ts";
import { LIMITS } from "./docker-fixture.ts";

const TEXT = "FROM scratch\nCOPY --link a /a\n";

/** A build by this program in the place of docker's client. */
function buildBy(
  client: string,
  change: (root: string) => void = () => undefined,
  path: readonly string[] = ["/usr/bin", "/bin"],
) {
  const root = tempFolder("build");
  const contextDir = join(root, "context");
  mkdirSync(contextDir);
  mkdirSync(join(root, "bin"));
  writeFileSync(join(contextDir, "Dockerfile"), TEXT);
  writeFileSync(join(contextDir, "a"), "a");
  writeFileSync(join(root, "bin/docker"), `#!/bin/sh\n${client}\n`);
  chmodSync(join(root, "bin/docker"), 0o755);
  change(root);
  return buildWithCli({
    contextDir,
    recipe: makeRecipe(TEXT, { baseImageMap: {}, platform: "linux/amd64" }),
    tag: "t",
    labels: {},
    limits: LIMITS,
    network: "none",
    signal: new AbortController().signal,
    onLine: () => undefined,
    env: { PATH: [join(root, "bin"), ...path].join(delimiter) },
  });
}

test("a context that is read whole is built", async () => {
  await expect(buildBy("cat >/dev/null")).resolves.toBeUndefined();
});

test("a context that cannot be read to its end is no image, whatever the client says", async () => {
  const cut = buildBy("cat >/dev/null", (root) => {
    rmSync(join(root, "context"), { recursive: true });
  });
  await expect(cut).rejects.toMatchObject({ failure: "build-lost" });
});

test("a client that cannot be started is no fault of the Dockerfile's", async () => {
  const refused = buildBy(
    "",
    (root) => {
      chmodSync(join(root, "bin/docker"), 0o644);
    },
    [],
  );
  await expect(refused).rejects.toMatchObject({ failure: "build-lost" });
});
