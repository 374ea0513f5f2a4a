const units = ['Bytes', 'KB', 'MB', 'GB', 'TB'] as const

/** Returns a number of bytes for people, with three significant digits: `5 MB`, `5.72 MB`. */
export function humanSize(bytes: number): string {
  const power = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), units.length - 1)
  const amount = bytes / 1_024 ** power
  return `${amount >= 1_000 ? Math.round(amount) : Number(amount.toPrecision(3))} ${units[power]}`
}
