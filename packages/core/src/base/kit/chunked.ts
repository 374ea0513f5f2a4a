/** The maximum number of items in one statement, because the databases limit the number of its parameters. */
const MAX_CHUNK_LENGTH = 1_000

/** Yields the items in chunks that each fit into one statement. */
export function* chunked<Item>(items: readonly Item[], length = MAX_CHUNK_LENGTH): Generator<Item[]> {
  for (let at = 0; at < items.length; at += length) yield items.slice(at, at + length)
}
