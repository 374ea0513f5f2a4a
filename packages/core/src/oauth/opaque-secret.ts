import { createHash, timingSafeEqual } from 'node:crypto'
import type { Core } from '../kit/context.ts'

/** 256 random bits as 64 hex digits. */
export const newOpaqueSecret = ({ randomBytes }: Pick<Core, 'randomBytes'>): string =>
  Buffer.from(randomBytes(32)).toString('hex')

/** In a time that tells nothing of where the two differ, nor of their lengths. */
export function equalsInConstantTime(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}
