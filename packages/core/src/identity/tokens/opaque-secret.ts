import { createHash, timingSafeEqual } from 'node:crypto'
import type { Core } from '../../base/operations/context.ts'

/** Returns 256 random bits as 64 hex digits. */
export const newOpaqueSecret = ({ randomBytes }: Pick<Core, 'randomBytes'>): string =>
  Buffer.from(randomBytes(32)).toString('hex')

/** Compares two texts. The time that it takes reveals neither where they differ nor their lengths. */
export function equalsInConstantTime(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}
