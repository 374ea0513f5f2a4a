/** SQLite takes 32,766 parameters in a statement; no row here has more than 40. */
export const ROWS_PER_STATEMENT = 500

/**
 * Does work on parts of a list that fit into one statement, one after another.
 *
 * @param size the number of items in a part
 */
export async function inChunks<Item>(
  items: readonly Item[],
  work: (chunk: Item[]) => Promise<unknown>,
  size = ROWS_PER_STATEMENT,
): Promise<void> {
  for (let from = 0; from < items.length; from += size) await work(items.slice(from, from + size))
}
