// A driver to be killed: makes a sandbox, starts something in it, says its id and waits.
import { commandOf } from "../../../sandboxes/contract/run-in-sandbox.ts";
import { DockerSandboxes } from "../../../sandboxes/docker/docker-sandboxes.ts";
import { LIMITS, OWNER, prebuilt } from "./docker-fixture.ts";

const backend = await DockerSandboxes.connect({ env: process.env });
const sandbox = await backend.create({
  image: await prebuilt(backend, "bench-base:debian"),
  owner: { ...OWNER, rolloutName: "killed__00000000" },
  limits: LIMITS,
  network: "closed",
  env: {},
  signal: new AbortController().signal,
});
const running = sandbox.exec(commandOf(["sleep", "600"], { uid: 10_001 }));
process.stdout.write(`${sandbox.id}\n`);
await running;
