import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { DEPLOY_PACKAGES } from "../../../api/cloud/deploy-cloud.ts";

test("the packages that a deploy asks for are those that it is tested with, and the guide names them", () => {
  const { devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  const names = ["aws-cdk-lib", "constructs", "@aws-cdk/toolkit-lib"];
  expect(DEPLOY_PACKAGES).toBe(names.map((name) => `${name}@${devDependencies[name]}`).join(" "));
  expect(readFileSync("docs/aws.md", "utf8")).toContain(
    `npm install --no-save ${DEPLOY_PACKAGES}\n`,
  );
});
