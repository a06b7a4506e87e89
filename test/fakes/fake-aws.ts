import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { CloudAccount } from "../../api/cloud/cloud-account.ts";
import { AwsServices } from "../../aws/aws-services.ts";
import { openS3 } from "../../api/cloud/cloud-account.ts";

type Input = Readonly<Record<string, unknown>>;
/** What an action answers; an `Error` is a refusal by that name, which is not tried again. */
export type Answers = Record<string, (input: Input) => object>;

/** An account over HTTP whose services answer what the test says, and which remembers what it was asked. */
export async function fakeAws(answers: Answers) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const action = String(request.headers["x-amz-target"]).split(".").at(-1) ?? "";
      asked.push(action);
      const input = JSON.parse(Buffer.concat(chunks).toString()) as Input;
      const answer = answers[action]?.(input) ?? new Error(`Unknown${action}`);
      const isRefused = answer instanceof Error;
      const body = isRefused ? { __type: answer.message, message: "refused" } : answer;
      response.writeHead(isRefused ? 400 : 200).end(JSON.stringify(body));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const env = {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    AWS_ACCESS_KEY_ID: "id",
    AWS_SECRET_ACCESS_KEY: "secret",
  };
  const stack = { OutSweep: "machine", OutCluster: "cluster" } as CloudAccount["stack"];
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  const account = { services: new AwsServices(env), s3: openS3(env), stack };
  return { account: account satisfies CloudAccount, asked, close };
}
