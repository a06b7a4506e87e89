import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";
import { messageOf } from "../../core/errors.ts";
import { SandboxError } from "../../core/ports/sandbox.ts";
import { CLOSED_RANGES } from "./guard-rules.ts";

const CLOSED = new BlockList();
for (const range of [...CLOSED_RANGES, "127.0.0.0/8"]) {
  const [address = "", bits = "32"] = range.split("/");
  CLOSED.addSubnet(address, Number(bits), "ipv4");
}

/**
 * Refuses what ADD would fetch from a place that sandboxes may not reach. The daemon fetches it from
 * its own network, where no wall stands between a task and the host's metadata service. A name server
 * that answers the daemon otherwise than us is not caught: such a task needs its author's own zone.
 */
export async function checkRemoteSource(source: string): Promise<void> {
  const text = source.replaceAll(/^["']|["']$/gu, "");
  const host = URL.canParse(text) ? new URL(text).hostname : "";
  // A variable in the place of the scheme or the host could stand for any address.
  const isKnown = /^https?:\/\/[^/$]+(\/|$)/iu.test(text) && host !== "";
  if (!isKnown) throw refused(source, "is not an address that can be checked");
  const addresses = await addressesOf(host.replaceAll(/^\[|\]$/gu, ""), source);
  const closed = addresses.find((address) => isIP(address) !== 4 || CLOSED.check(address));
  if (closed !== undefined) throw refused(source, `is at ${closed}`);
}

/** IPv6 counts as closed where it is the only way: sandboxes have none either. */
async function addressesOf(host: string, source: string): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host];
  try {
    const found = await lookup(host, { all: true });
    const ipv4 = found.filter(({ family }) => family === 4);
    return (ipv4.length > 0 ? ipv4 : found).map(({ address }) => address);
  } catch (error) {
    throw new SandboxError("image-missing", `ADD ${source}: ${messageOf(error)}`, { cause: error });
  }
}

function refused(source: string, why: string): SandboxError {
  return new SandboxError(
    "unsupported",
    `ADD ${source} ${why}, which a build may not reach; fetch it in a RUN step`,
  );
}
