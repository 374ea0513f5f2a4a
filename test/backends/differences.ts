/** Returns the first ten texts that only one of two lists has, or has more often, so that a failed test prints little. */
export function differences(actual: readonly string[], expected: readonly string[]) {
  const surplus = (of: readonly string[], over: readonly string[]): string[] => {
    const left = new Map<string, number>()
    for (const text of over) left.set(text, (left.get(text) ?? 0) + 1)
    return of.filter((text) => {
      const count = left.get(text) ?? 0
      left.set(text, count - 1)
      return count <= 0
    })
  }
  return { missing: surplus(expected, actual).slice(0, 10), unexpected: surplus(actual, expected).slice(0, 10) }
}

export const noDifferences: ReturnType<typeof differences> = { missing: [], unexpected: [] }
