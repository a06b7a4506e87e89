/** The parts of an image reference that a pull needs. */
export interface ImageReference {
  /** `docker.io` when the reference names none. */
  readonly registry: string;
  /** As written, without tag and digest. */
  readonly repository: string;
  /** Tag or `sha256:…`; `latest` when the reference has neither. */
  readonly tag: string;
}

/** Where our own images live: `localhost/` is pulled from nowhere, so that nobody else can fill it. */
export const OWN_REPOSITORY = "localhost/benchflow";

/** Splits a reference by Docker's rules (distribution/reference): the first part is a registry when it looks like a host. */
export function parseReference(reference: string): ImageReference {
  const [named = "", digest] = reference.split("@", 2);
  const lastSlash = named.lastIndexOf("/");
  const colon = named.indexOf(":", lastSlash + 1);
  const repository = colon < 0 ? named : named.slice(0, colon);
  const tag = digest ?? (colon < 0 ? "latest" : named.slice(colon + 1));
  const [first = ""] = repository.split("/");
  const isHost = repository.includes("/") && /[.:]|^localhost$/u.test(first);
  return { registry: isHost ? first : "docker.io", repository, tag };
}

/** Whether a reference claims to be an image of ours: a task has no business in there. */
export function isOwnReference(reference: string): boolean {
  return parseReference(reference).repository.startsWith(`${OWN_REPOSITORY}/`);
}
