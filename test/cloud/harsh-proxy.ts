import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";

export interface HarshProxy {
  readonly origin: string;
  /** So many writes were turned away, and so many answers were lost. */
  readonly conflicts: () => number;
  readonly losses: () => number;
  readonly close: () => void;
}

export interface Harshness {
  readonly origin: string;
  /** Share of writes that are answered `TransactionConflict` without being passed on. */
  readonly conflicts: number;
  /** Share of answers that never arrive, although what was asked has happened. */
  readonly losses: number;
}

const SEED = 20_261_130;
const WRITES = /\.(?:UpdateItem|TransactWriteItems)$/u;

/** Stands before an emulated DynamoDB and treats it as a busy account and a bad line would. */
export async function startHarshProxy({
  origin,
  conflicts,
  losses,
}: Harshness): Promise<HarshProxy> {
  const random = xoroshiro128plus(SEED);
  const chance = (share: number): boolean => uniformFloat64(random) < share;
  const counts = { conflicts: 0, losses: 0 };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request);
    const target = String(request.headers["x-amz-target"]);
    if (WRITES.test(target) && chance(conflicts)) {
      counts.conflicts += 1;
      response.writeHead(400, { "content-type": "application/x-amz-json-1.0" });
      response.end(JSON.stringify(refusalFor(target)));
      return;
    }
    const { host: _host, connection: _connection, ...headers } = request.headers;
    const passed = await fetch(`${origin}${request.url ?? "/"}`, {
      method: request.method ?? "POST",
      headers: headers as Record<string, string>,
      body,
    });
    const bytes = Buffer.from(await passed.arrayBuffer());
    if (chance(losses)) {
      counts.losses += 1;
      request.socket.destroy();
      return;
    }
    const type = passed.headers.get("content-type") ?? "application/x-amz-json-1.0";
    response.writeHead(passed.status, { "content-type": type }).end(bytes);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.writeHead(502).end(String(error));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${String(port)}`,
    conflicts: () => counts.conflicts,
    losses: () => counts.losses,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** As DynamoDB tells it of one write, and of a transaction. */
function refusalFor(target: string): object {
  const type = "com.amazonaws.dynamodb.v20120810#";
  if (!target.endsWith("TransactWriteItems"))
    return { __type: `${type}TransactionConflictException`, message: "Transaction is ongoing" };
  return {
    __type: `${type}TransactionCanceledException`,
    message: "Transaction cancelled",
    CancellationReasons: [{ Code: "TransactionConflict", Message: "Transaction is ongoing" }],
  };
}
