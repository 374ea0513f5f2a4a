/** As much as one statement takes: the databases bound its parameters. */
const MOST_AT_ONCE = 1_000

export function* inParts<Item>(items: readonly Item[]): Generator<Item[]> {
  for (let at = 0; at < items.length; at += MOST_AT_ONCE) yield items.slice(at, at + MOST_AT_ONCE)
}
