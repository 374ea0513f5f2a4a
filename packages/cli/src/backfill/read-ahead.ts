/**
 * Runs `work` on every item, on up to `width` items concurrently, and yields the results in the order of the items. If an
 * item or its work fails, the results of items that were started before are still yielded.
 */
export async function* readAhead<T, R>(
  items: AsyncIterable<T>,
  work: (item: T) => Promise<R>,
  width: number,
): AsyncGenerator<R> {
  const underWay: Promise<R>[] = []
  let failure: { readonly error: unknown } | undefined
  try {
    for await (const item of items) {
      const result = work(item)
      result.catch(() => {})
      underWay.push(result)
      if (underWay.length >= width) yield await underWay.shift()!
    }
  } catch (error) {
    failure = { error }
  }
  for (const result of underWay) {
    try {
      yield await result
    } catch (error) {
      failure ??= { error }
    }
  }
  if (failure !== undefined) throw failure.error
}
