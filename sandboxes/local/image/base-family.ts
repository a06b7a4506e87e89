import { SandboxError } from "../../../core/ports/sandbox.ts";
import type { HostFamily } from "../root/host-facts.ts";

/** What a local sandbox can make of a `FROM`. */
export interface BaseFit {
  /** For the result's notes: what the reference stands for here. */
  readonly note: string;
  /** A program that images of this name promise, to be looked for before the build. */
  readonly program: string | null;
  /** Another name that such images have it by, which Debian leaves out. */
  readonly alias: string | null;
}

/** `python` of Docker's python images is Debian's `python3`. */
const ALIASES: Readonly<Record<string, string>> = { python3: "python" };

/** Value of a base image map that says: take this machine, whatever the reference is. */
const HOST = "host";

/** Official images on Debian or Ubuntu, with the program that their users count on. */
const DEBIAN_BASED: Readonly<Record<string, string | null>> = {
  debian: null,
  ubuntu: null,
  "buildpack-deps": null,
  python: "python3",
  node: "node",
  golang: "go",
  rust: "cargo",
  gcc: "gcc",
  ruby: "ruby",
  perl: "perl",
  php: "php",
  julia: "julia",
  "r-base": "R",
  openjdk: "java",
  "eclipse-temurin": "java",
  maven: "mvn",
  gradle: "gradle",
};

/**
 * Whether a reference's image is of this machine's family (Debian and what descends from it).
 * Throws `unsupported`, naming the reference and the way out, for any other.
 */
export function fitBase(
  reference: string,
  family: HostFamily,
  baseImageMap: Readonly<Record<string, string>>,
): BaseFit {
  const host = `this machine's ${family.id} ${family.versionId}`.trim();
  const mapped = baseImageMap[reference] ?? reference;
  if (mapped === HOST)
    return { note: `FROM ${reference} mapped to ${host}`, program: null, alias: null };
  if (mapped === "scratch")
    throw new SandboxError(
      "unsupported",
      "FROM scratch needs --env docker: a local sandbox is this machine",
    );
  const { name, tag } = splitReference(mapped);
  const program = DEBIAN_BASED[name];
  if (program === undefined || /alpine|windows|nanoserver/iu.test(tag))
    throw new SandboxError(
      "unsupported",
      `FROM ${reference} is not known to be a Debian or Ubuntu image, and local sandboxes are ${host}: use --env docker, or map it to "host" with --base-image-map`,
    );
  if (!family.like.includes("debian"))
    throw new SandboxError(
      "unsupported",
      `FROM ${reference} is a Debian or Ubuntu image, and local sandboxes are ${host}: use --env docker`,
    );
  const alias = ALIASES[program ?? ""] ?? null;
  return { note: `FROM ${reference} stands for ${host}`, program, alias };
}

/** Docker Hub's official images go by their bare name; `library/` and the registry may be spelled out. */
function splitReference(reference: string): { readonly name: string; readonly tag: string } {
  const [path = ""] = reference.split("@");
  const colon = path.lastIndexOf(":");
  const hasTag = colon > path.lastIndexOf("/");
  const name = hasTag ? path.slice(0, colon) : path;
  return {
    name: name.replace(/^(docker\.io|registry-1\.docker\.io)\//u, "").replace(/^library\//u, ""),
    tag: hasTag ? path.slice(colon + 1) : "latest",
  };
}
