import { chmod, symlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { packImageContext } from "../../api/cloud/image-context.ts";
import { type ImageDeps, taskImage } from "../../api/cloud/task-images.ts";
import type { Task } from "../../core/model/task.ts";
import { readTar } from "../../core/tar/read-tar.ts";
import { tempFolder, writeFiles } from "../stores/task-folders/temp-tasks.ts";

/** Names and texts of an archive's files. */
async function filesOf(archive: Uint8Array): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for await (const { header, content } of readTar(bytesAt(archive))) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of content) chunks.push(chunk);
    if (header.kind === "file")
      files[new TextDecoder().decode(header.name)] = Buffer.concat(chunks).toString();
  }
  return files;
}

async function* bytesAt(archive: Uint8Array): AsyncGenerator<Uint8Array> {
  yield archive;
}

test("a context that is sent to the cloud leaves the task's skills out, as a run here does", async () => {
  const dir = await tempFolder();
  await writeFiles(dir, {
    "environment/Dockerfile": "FROM debian\nCOPY skills /skills\nCOPY app.txt /app/\n",
    "environment/app.txt": "app",
    "environment/skills/solve/SKILL.md": "how",
    "environment/secret.txt": "no",
    "environment/.dockerignore": "secret.txt\n",
  });
  const image = { kind: "dockerfile", contextDigest: "sha256:0" } as const;
  const archive = await packImageContext(
    { dir, environmentDir: "environment", image },
    { debian: "mirror/debian" },
  );
  const files = await filesOf(archive);
  expect(files["Dockerfile"]).toBe("FROM mirror/debian\n\nCOPY app.txt /app/\n");
  expect(Object.keys(files).toSorted()).toEqual([".dockerignore", "Dockerfile", "app.txt"]);
});

test("another checkout of a task has the same context, and an executable bit another one", async () => {
  const image = { kind: "dockerfile", contextDigest: "sha256:0" } as const;
  const checkout = async (mode: number, year: number) => {
    const dir = await tempFolder();
    await writeFiles(dir, {
      "environment/Dockerfile": "FROM debian\nCOPY . /app/\n",
      "environment/src/run.sh": "true\n",
    });
    const [folder, file] = [join(dir, "environment/src"), join(dir, "environment/src/run.sh")];
    await symlink("run.sh", join(folder, "link"));
    await chmod(file, mode);
    await chmod(folder, year === 2001 ? 0o700 : 0o775);
    for (const path of [file, folder]) await utimes(path, new Date(year, 1), new Date(year, 1));
    return await packImageContext({ dir, environmentDir: "environment", image }, {});
  };
  const first = await checkout(0o644, 2001);
  expect(Buffer.compare(first, await checkout(0o660, 2026))).toBe(0);
  expect(Buffer.compare(first, await checkout(0o755, 2001))).not.toBe(0);
  const years = new Set<number>();
  for await (const { header } of readTar(bytesAt(first)))
    years.add(new Date(header.mtimeSeconds * 1000).getUTCFullYear());
  expect([...years]).toEqual([2000]);
});

test("a prebuilt image is taken over, mapped as base images are", async () => {
  const image = { kind: "prebuilt", reference: "debian" } as const;
  const task = { dir: "/", environmentDir: "environment", image };
  const files = await filesOf(await packImageContext(task, { debian: "mirror/debian" }));
  expect(files).toEqual({ Dockerfile: "FROM mirror/debian\n" });
});

test("a Dockerfile that cannot be read is told with its task, before the account is asked", async () => {
  const dir = await tempFolder();
  await writeFiles(dir, { "environment/Dockerfile": "RUN first\n" });
  const image = { kind: "dockerfile", contextDigest: "sha256:0" } as const;
  const task = { name: "bad", dir, environmentDir: "environment", image } as Task;
  const nothing = { baseImageMap: {} } as ImageDeps;
  await expect(taskImage(task, nothing)).rejects.toMatchObject({
    kind: "config",
    message: expect.stringMatching(/^the image of task bad: /u),
  });
});
