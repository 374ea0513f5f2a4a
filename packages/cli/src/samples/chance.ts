import { createHash } from 'node:crypto'

/** Returns a number from 0 to 1 that depends only on the texts. */
export type Chance = (...parts: readonly string[]) => number

export const chanceOf: Chance = (...parts) =>
  createHash('sha256').update(parts.join('\n')).digest().readUInt32BE() / 2 ** 32
