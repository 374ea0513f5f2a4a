/**
 * `work` on every item, on up to `width` of them at a time; results in the order of the items. When items or work fail, what
 * had been started before still comes.
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
