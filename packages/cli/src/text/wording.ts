const grouped = new Intl.NumberFormat('en-US')

/** Returns a number such as `12,345`. */
export function formatCount(count: number): string {
  return grouped.format(count)
}

/** Returns a number with its noun: `1 span`, `2 spans`. */
export function counted(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`
}

const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB']

/** Returns a size in powers of 1,000: `812 B`, `4.1 kB`. */
export function formatBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 999.5 && unit < byteUnits.length - 1) {
    value /= 1_000
    unit += 1
  }
  return `${unit === 0 ? value : value.toFixed(value < 9.95 ? 1 : 0)} ${byteUnits[unit]}`
}

/** Matches control and format characters, which could control a terminal. Joiners and emoji tags are allowed, because texts need them. */
const unprintable = /(?!\u200c|\u200d|[\u{e0020}-\u{e007f}])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu

/** Returns untrusted text with its control characters escaped, so that it can be printed as one line on a terminal. */
export function printable(text: string): string {
  return text.replaceAll(unprintable, '\ufffd')
}
