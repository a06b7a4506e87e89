import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { afterEach, expect, test } from "vitest";
import { S3Client } from "../../../aws/s3-client.ts";
import { S3ObjectStore } from "../../../stores/s3/s3-object-store.ts";

const KEYS = {
  keys: { accessKeyId: "id", secretAccessKey: "secret", sessionToken: null },
  expiresAt: null,
};
const ENTRY = "<Contents><Key>runs/a</Key><Size>1</Size><ETag>v</ETag></Contents>";
const LAST = "<IsTruncated>false</IsTruncated>";
let server: Server | null = null;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** The keys that a store lists whose service gives these pages in turn. */
async function listed(pages: readonly string[]): Promise<readonly string[]> {
  let asked = 0;
  server = createServer((_request, response) => {
    response.end(`<ListBucketResult>${pages[asked] ?? ""}</ListBucketResult>`);
    asked += 1;
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const env = { AWS_ENDPOINT_URL: `http://127.0.0.1:${port}` };
  const store = new S3ObjectStore(new S3Client(env, async () => KEYS), "bucket");
  const keys: string[] = [];
  for await (const { key } of store.list("runs/")) keys.push(key);
  return keys;
}

test("a list goes on to its last page", async () => {
  const more = "<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>";
  expect(await listed([`${more}${ENTRY}`, `${LAST}${ENTRY}`])).toEqual(["runs/a", "runs/a"]);
});

test.each(["", ENTRY, `<IsTruncated>true</IsTruncated>${ENTRY}`])(
  "a page that does not say how the list goes on is not taken for its end: %j",
  async (page) => {
    await expect(listed([page])).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("S3 did not say"),
    });
  },
);
