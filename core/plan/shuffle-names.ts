import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import { compareNames } from "./compare-names.ts";

/**
 * The names in an order that only depends on the set of names and the seed: Fisher-Yates from the end
 * over the names in UTF-8 byte order, drawn with xoroshiro128+ (design 12). The same on every platform.
 */
export function shuffleNames(names: readonly string[], seed: number): string[] {
  const shuffled = names.toSorted(compareNames);
  const generator = xoroshiro128plus(seed);
  for (let last = shuffled.length - 1; last > 0; last -= 1) {
    const drawn = uniformInt(generator, 0, last);
    const [name, other] = [shuffled[last], shuffled[drawn]];
    if (name !== undefined && other !== undefined)
      [shuffled[last], shuffled[drawn]] = [other, name];
  }
  return shuffled;
}
