import { afterEach, expect, test } from "vitest";
import { taskImage } from "../../../api/cloud/task-images.ts";
import type { CloudImage } from "../../../core/model/cloud-work.ts";
import { bodyOfBytes } from "../../../stores/objects/object-body.ts";
import { fakeAws } from "../../fakes/fake-aws.ts";
import { MemoryObjects } from "../../fakes/memory-objects.ts";

const DIGEST = `sha256:${"0".repeat(64)}`;
let close = (): void => undefined;
afterEach(() => {
  close();
});

/** An account whose build project makes any image, and records what it was told to make. */
async function builder() {
  const objects = new MemoryObjects();
  const built: string[] = [];
  const aws = await fakeAws({
    StartBuild: ({ environmentVariablesOverride }) => {
      const variables = environmentVariablesOverride as { name: string; value: string }[];
      const image = variables.find(({ name }) => name === "IMAGE")?.value ?? "";
      built.push(image);
      void objects.create(`images/${image.split(":").at(-1)}.json`, bodyOfBytes('{"User":"ada"}'));
      return { build: { id: "build" } };
    },
    BatchGetBuilds: () => ({ builds: [{ buildStatus: "SUCCEEDED" }] }),
    DescribeImages: () => ({ imageDetails: [{ imageDigest: DIGEST }] }),
  });
  ({ close } = aws);
  const { stack } = aws.account;
  const account = { ...aws.account, stack: { ...stack, OutImages: "images", OutBucket: "runs" } };
  const asked = new Map<string, Promise<CloudImage>>();
  const signal = new AbortController().signal;
  const deps = { account, objects, asked, baseImageMap: {}, signal, onLine: () => undefined };
  const imageOf = async (name: string, reference: string) => {
    const image = { kind: "prebuilt", reference } as const;
    return await taskImage({ name, dir: "/", environmentDir: "environment", image }, deps);
  };
  return { built, imageOf };
}

test("tasks with the same image at a time wait for one build, since a tag is pushed once", async () => {
  const { built, imageOf } = await builder();
  const [one, two, other] = await Promise.all([
    imageOf("one", "debian:12"),
    imageOf("two", "debian:12"),
    imageOf("other", "debian:13"),
  ]);
  expect(one).toEqual(two);
  expect(one).toMatchObject({ digest: DIGEST, user: "ada" });
  expect(new Set(built)).toEqual(new Set([one.reference, other.reference]));
  expect(built).toHaveLength(2);
});
