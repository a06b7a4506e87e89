import * as z from "zod";
import { canonicalJson } from "../core/plan/canonical-json.ts";
import type { Sha256 } from "../core/ports/hash.ts";

/** `sha256:<hex>` of what a person's own file says, however it spells it. */
export function digestOwnFile(content: object, sha256: Sha256): string {
  return `sha256:${sha256(canonicalJson(z.json().parse(JSON.parse(JSON.stringify(content)))))}`;
}
