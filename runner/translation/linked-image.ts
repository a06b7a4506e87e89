import type { ImagePart } from "./conversation.ts";

const DATA_URL = /^data:(?<mediaType>[\w.+/-]+);base64,/u;

/** A picture by its URL; one whose URL holds it is told by its bytes. */
export function linkedImage(url: string, detail: string | null): ImagePart {
  const found = DATA_URL.exec(url);
  const mediaType = found?.groups?.["mediaType"];
  if (found === null || mediaType === undefined) return { kind: "image", source: { url }, detail };
  return { kind: "image", source: { mediaType, data: url.slice(found[0].length) }, detail };
}

/** The URL of a picture, its bytes within it where they are all there is. */
export function imageUrl({ source }: ImagePart): string {
  return "url" in source ? source.url : `data:${source.mediaType};base64,${source.data}`;
}
