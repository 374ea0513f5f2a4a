/**
 * Returns the parameters of a path that matches a pattern, or undefined if it does not. `:name` in a pattern matches one
 * segment.
 */
export function matchPath(pattern: string, path: string): Readonly<Record<string, string>> | undefined {
  const expected = segmentsOf(pattern)
  const actual = segmentsOf(path)
  if (expected.length !== actual.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, segment] of expected.entries()) {
    const value = decoded(actual[index] ?? '')
    if (value === undefined) return undefined
    if (segment.startsWith(':')) params[segment.slice(1)] = value
    else if (segment !== value) return undefined
  }
  return params
}

/** Returns the segments of a path. A slash at its end is ignored. */
function segmentsOf(path: string): string[] {
  return path.replace(/\/$/, '').split('/')
}

/** Returns a segment without percent-encoding, or undefined if the encoding is wrong. */
function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}
