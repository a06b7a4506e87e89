import { expect, test } from "vitest";
import { BuildProgress } from "../../../sandboxes/docker/build-progress.ts";

/** How a build ended, told as the daemon tells it. */
function failureAfter(lines: readonly string[], code?: number): string {
  const progress = new BuildProgress();
  for (const line of lines) progress.take(line);
  const { failure, message } = progress.failureOf({
    error: "words",
    errorDetail: code === undefined ? { message: "words" } : { message: "words", code },
  });
  return `${failure}: ${message}`;
}

test("a command's exit code is the task's failure, told with the last lines of its step", () => {
  const lines = [
    "Step 1/3 : FROM debian",
    "gone",
    "Step 2/3 : RUN make",
    " ---> Running in 0123",
    "cc a.c",
    "\u001b[91merror: no a.c",
    "\u001b[0m",
    "Removing intermediate container 0123",
  ];
  expect(failureAfter(lines, 2)).toBe("build-failed: words: cc a.c | error: no a.c");
});

test("a step that fetches may have lost the network", () => {
  const lines = ["Step 2/3 : RUN apt-get update", "Could not resolve"];
  expect(failureAfter(lines, 100)).toBe(
    "build-lost: words: Could not resolve: it calls apt-get, so the network may be why",
  );
  expect(failureAfter(["Step 2/3 : ADD https://x.org/a /a"])).toMatch(/^build-lost/u);
});

test("without an exit code only what is nothing but context and Dockerfile is the task's", () => {
  for (const step of ["COPY absent /x", "ADD absent /x", "WORKDIR /file/x", "USER who"]) {
    expect(failureAfter([`Step 2/3 : ${step}`])).toBe("build-failed: words");
  }
  for (const step of ["RUN make", "FROM debian"]) {
    expect(failureAfter([`Step 2/3 : ${step}`])).toBe("build-lost: words");
  }
  expect(failureAfter([])).toBe("build-lost: words");
});

test("a full disk is neither", () => {
  const { failure } = new BuildProgress().failureOf({ error: "write /x: no space left on device" });
  expect(failure).toBe("disk-full");
});
