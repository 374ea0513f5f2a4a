/** The differences of a tool's reports from the others. */
export interface Dialect {
  /** The number that the attribute `line` has for the first line of a file. */
  readonly firstLine: 0 | 1
  /** Whether the row of a failed attempt looks like that of a passed one if another attempt follows it. */
  readonly hasSilentReruns: boolean
}

export const otherDialect: Dialect = { firstLine: 1, hasSilentReruns: false }

const pytest: Dialect = { firstLine: 0, hasSilentReruns: true }

/** Dialects by the name of the root element or of the suite. pytest names the first from version 8 on, the second always. */
const dialects: ReadonlyMap<string | undefined, Dialect> = new Map([
  ['pytest tests', pytest],
  ['pytest', pytest],
])

export const getDialect = (name: string | undefined): Dialect | undefined => dialects.get(name)
