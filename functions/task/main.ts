import { mkdtempSync, readFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { containerKeys } from "../../aws/container-keys.ts";
import { S3Client } from "../../aws/s3-client.ts";
import { systemClock } from "../../host/system-clock.ts";
import { FargateSandboxes } from "../../sandboxes/fargate/fargate-sandboxes.ts";
import { KIT_DIR, SOCKET_DIR, socketPathOf, writeKit } from "../../sandboxes/fargate/kit.ts";
import { S3ObjectStore } from "../../stores/s3/s3-object-store.ts";
import { requiredVariable } from "../required-variable.ts";
import { runWork } from "./run-work.ts";

/*
 * The program of a task's two containers of ours. Without BENCH_WORK it fills the kit and ends; with it, it
 * runs that work item. Its exit code is 0 however the trial went: result.json says that.
 */
const { BENCH_WORK: workKey } = process.env;
if (workKey === undefined) {
  writeKit(KIT_DIR, readFileSync(join(KIT_DIR, "execd.mjs")));
} else {
  const bucket = requiredVariable(process.env, "BENCH_BUCKET");
  const stop = new AbortController();
  process.on("SIGTERM", () => {
    stop.abort(new Error("the platform stops the task"));
  });
  const taskId = process.env["ECS_CONTAINER_METADATA_URI_V4"]?.split("/").at(-1) ?? hostname();
  const end = await runWork(workKey, {
    objects: new S3ObjectStore(
      new S3Client(process.env, async () => await containerKeys(process.env)),
      bucket,
    ),
    openBackend: ({ image }) =>
      new FargateSandboxes({
        id: taskId,
        socketPath: socketPathOf(SOCKET_DIR),
        image: image.reference,
        imageDigest: image.digest,
        user: image.user,
        entrypoint: image.entrypoint,
      }),
    taskId,
    scratchDir: mkdtempSync(join(tmpdir(), "bench-")),
    clock: systemClock,
    log,
    signal: stop.signal,
  });
  log(end);
}

function log(line: string): void {
  process.stdout.write(`${line}\n`);
}
