import { isIPv4 } from "node:net";

/** Numbers of linux/rtnetlink.h, linux/fib_rules.h and linux/netlink.h. */
const RTM_NEWRULE = 32;
const RTM_DELRULE = 33;
const NLM_F_REQUEST_ACK = 0x1 | 0x4;
const NLM_F_REQUEST_ACK_EXCL_CREATE = 0x1 | 0x4 | 0x200 | 0x400;
const FR_ACT_TO_TBL = 1;
const FR_ACT_UNREACHABLE = 7;
const RT_TABLE_MAIN = 254;
const FRA_DST = 1;
const FRA_PRIORITY = 6;
const FRA_TABLE = 15;
const FRA_IP_PROTO = 22;
const FRA_DPORT_RANGE = 24;
const AF_INET = 2;
const AF_INET6 = 10;

/**
 * What is not the open internet: private, link-local (a cloud's metadata service), carrier-grade,
 * benchmark, documentation, multicast and reserved addresses (IANA's special-purpose registry).
 */
export const CLOSED_RANGES = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];

export interface GuardPlan {
  /** Addresses and networks of the daemon's host that are closed besides, IPv4. */
  readonly closed: readonly string[];
  /** Name servers that may be asked although they lie in a closed range; port 53 alone. */
  readonly nameServers: readonly string[];
}

/**
 * Netlink messages that close a network namespace to everything but the open internet: routing rules
 * (ip-rule(8)) that come before the routing table and after the namespace's own addresses, so that
 * loopback works and no container beside it is reached. IPv6 is closed whole.
 */
export function guardMessages(plan: GuardPlan): Buffer[] {
  return messagesOf(plan, "add");
}

/**
 * The same rules taken away again; none of them need be there. A network can only be attached without
 * them, since its gateway lies in a closed range.
 */
export function releaseMessages(plan: GuardPlan): Buffer[] {
  return messagesOf(plan, "delete");
}

type Change = "add" | "delete";

function messagesOf({ closed, nameServers }: GuardPlan, change: Change): Buffer[] {
  const open = nameServers
    .filter((address) => isIPv4(address))
    .flatMap((address) => [17, 6].map((protocol) => nameServerRule(address, protocol)));
  const shut = [...CLOSED_RANGES, ...closed].map(closedRule).filter((each) => each !== null);
  const closedIpv6: RuleFields = {
    family: AF_INET6,
    action: FR_ACT_UNREACHABLE,
    bits: 0,
    attributes: [priority(200)],
  };
  return [...open, ...shut, closedIpv6].map((fields) => encodeRule(fields, change));
}

function nameServerRule(address: string, protocol: number): RuleFields {
  const port = Buffer.alloc(4);
  port.writeUInt16LE(53, 0);
  port.writeUInt16LE(53, 2);
  return {
    family: AF_INET,
    action: FR_ACT_TO_TBL,
    bits: 32,
    attributes: [
      attribute(FRA_DST, addressBytes(address)),
      priority(100),
      attribute(FRA_TABLE, word(RT_TABLE_MAIN)),
      attribute(FRA_IP_PROTO, Buffer.from([protocol])),
      attribute(FRA_DPORT_RANGE, port),
    ],
  };
}

function closedRule(range: string): RuleFields | null {
  const [address = "", bits = "32"] = range.split("/");
  if (!isIPv4(address)) return null;
  const attributes = [attribute(FRA_DST, addressBytes(address)), priority(200)];
  return { family: AF_INET, action: FR_ACT_UNREACHABLE, bits: Number(bits), attributes };
}

interface RuleFields {
  readonly family: number;
  readonly action: number;
  /** Length of the destination's prefix. */
  readonly bits: number;
  readonly attributes: readonly Buffer[];
}

function encodeRule({ family, action, bits, attributes }: RuleFields, change: Change): Buffer {
  const body = Buffer.concat(attributes);
  const head = Buffer.alloc(28);
  head.writeUInt32LE(28 + body.byteLength, 0);
  head.writeUInt16LE(change === "add" ? RTM_NEWRULE : RTM_DELRULE, 4);
  head.writeUInt16LE(change === "add" ? NLM_F_REQUEST_ACK_EXCL_CREATE : NLM_F_REQUEST_ACK, 6);
  // The guard takes a refusal of numbered messages: a kernel without IPv6 has nothing to close, and a
  // rule that is not there need not be deleted.
  head.writeUInt32LE(family === AF_INET6 || change === "delete" ? 1 : 0, 8);
  head.writeUInt8(family, 16);
  head.writeUInt8(bits, 17);
  head.writeUInt8(action === FR_ACT_TO_TBL ? RT_TABLE_MAIN : 0, 20);
  head.writeUInt8(action, 23);
  return Buffer.concat([head, body]);
}

function attribute(type: number, value: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16LE(4 + value.byteLength, 0);
  head.writeUInt16LE(type, 2);
  return Buffer.concat([head, value, Buffer.alloc((4 - (value.byteLength % 4)) % 4)]);
}

function priority(value: number): Buffer {
  return attribute(FRA_PRIORITY, word(value));
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function addressBytes(address: string): Buffer {
  return Buffer.from(address.split(".").map(Number));
}
