/** How many items are read at the same time: enough for the threads that read files. More would only wait in memory. */
const BATCH_LENGTH = 8

/** Reads something for each item, several at a time, in the order of the items. */
export async function inBatches<Item, Result>(
  items: readonly Item[],
  read: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (let from = 0; from < items.length; from += BATCH_LENGTH) {
    results.push(...(await Promise.all(items.slice(from, from + BATCH_LENGTH).map(read))))
  }
  return results
}
