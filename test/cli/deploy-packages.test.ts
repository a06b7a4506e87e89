import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Node's loader, for which CDK is not there, as after `npm ci --omit=dev`. */
const WITHOUT_CDK = `export async function resolve(name, context, next) {
  if (!/^(?:@aws-cdk|aws-cdk-lib|constructs)/.test(name)) return await next(name, context);
  throw Object.assign(new Error("no " + name), { code: "ERR_MODULE_NOT_FOUND" });
}`;
const asUrl = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;

async function deployWithoutCdk(): Promise<{ code: number | null; err: string }> {
  const register = `import { register } from "node:module"; register(${JSON.stringify(asUrl(WITHOUT_CDK))});`;
  const args = ["--import", "tsx", "--import", asUrl(register), "cli/main.ts", "cloud", "deploy"];
  return await new Promise((done) => {
    const child = execFile(process.execPath, args, { cwd: ROOT }, (_error, _out, err) => {
      done({ code: child.exitCode, err });
    });
  });
}

test("deploying without its packages is told before a question, by the command of the docs", async () => {
  const { code, err } = await deployWithoutCdk();
  expect(err).toMatch(/^deploying needs CDK, which a run does not and is not here\n/u);
  const [, command = "none"] = /next: `(npm install .+?)`/u.exec(err) ?? [];
  expect(await readFile(`${ROOT}docs/aws.md`, "utf8")).toContain(command);
  expect(code).toBe(4);
});
