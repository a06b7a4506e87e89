import { readFileSync } from "node:fs";

/**
 * What this process may do where a sandbox is made: everything, as root of the machine; or, as root
 * of a user namespace (user_namespaces(7)), only what concerns the ids of that namespace.
 */
export interface Powers {
  readonly scope: "machine" | "namespace";
  /** What overlayfs needs to be told, with a comma behind it: `trusted.` attributes are the machine's root's. */
  readonly overlayOptions: "" | "userxattr,";
  /** Device files are made, or the machine's own are mounted one by one. */
  readonly makesDevices: boolean;
  /**
   * The machine's folders belong to root inside; else to nobody, and each is covered by a folder
   * of the namespace's own, so that files in it can be added, replaced and removed.
   */
  readonly ownsSystem: boolean;
  /** What the kernel shows for ids that have no place in the namespace (overflowuid); null where all have. */
  readonly foreignUid: number | null;
}

export const MACHINE_POWERS: Powers = {
  scope: "machine",
  overlayOptions: "",
  makesDevices: true,
  ownsSystem: true,
  foreignUid: null,
};

export const NAMESPACE_POWERS: Powers = {
  scope: "namespace",
  overlayOptions: "userxattr,",
  makesDevices: false,
  ownsSystem: false,
  foreignUid: 65_534,
};

/** `idMap` is the text of /proc/self/uid_map: the machine's own namespace maps every id to itself. */
export function findPowers(idMap = readFileSync("/proc/self/uid_map", "utf8")): Powers {
  return /^\s*0\s+0\s+4294967295\s*$/u.test(idMap) ? MACHINE_POWERS : NAMESPACE_POWERS;
}
