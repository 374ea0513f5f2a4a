const units: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  min: 60_000_000_000n,
  h: 3_600_000_000_000n,
}

/** Returns the nanoseconds of a duration such as `1.5s`, `200 ms` or `2m`; null if the text is none. Without a unit, seconds. */
export function parseDuration(text: string | null): string | null {
  const match = /^\s*(\d{1,9})(?:\.(\d{1,9}))?\s*(ns|us|µs|ms|s|m|min|h)?\s*$/.exec(text ?? '')
  if (match === null) return null
  const [, whole = '0', fraction = '', unit = 's'] = match
  const size = units[unit] ?? 1n
  return String(BigInt(whole) * size + (BigInt(fraction.padEnd(9, '0')) * size) / 1_000_000_000n)
}

/** Returns the conditions of a text such as `http.route=/cart and http.request.method=GET`. Parts without `=` are left out. */
export function attributeConditions(text: string | null): readonly string[] {
  return (text ?? '')
    .split(/\s+and\s+/i)
    .map((part) => part.trim())
    .filter((part) => /^[^=]+=/.test(part))
}
