import { base62, newTokenId, newTokenText, seededRandom } from './token-text.ts'

export interface KnownTokens {
  /** The ids of valid tokens, which the wrong tokens imitate. */
  readonly validIds: readonly string[]
  /** The expired tokens with the right secret, so that the gateway performs all its checks. */
  readonly expired: readonly string[]
  readonly revoked: readonly string[]
}

/**
 * Returns invalid tokens for numbers from 0, in equal parts: garbage, the id of a valid token with another secret, expired
 * tokens, and revoked tokens. A third of the garbage looks like a token, a third has a wrong checksum, and a third is any text
 * that could be an imported token.
 */
export function wrongTokens({ validIds, expired, revoked }: KnownTokens, seed = 1): (index: number) => string {
  const random = seededRandom(seed)
  const one = (list: readonly string[]) => list[Math.floor(random() * list.length)]!
  return (index) => {
    switch (index % 4) {
      case 0:
        return garbage(Math.floor(index / 4) % 3, random)
      case 1:
        return newTokenText(one(validIds), random)
      case 2:
        return one(expired)
      default:
        return one(revoked)
    }
  }
}

function garbage(kind: number, random: () => number): string {
  if (kind === 0) return newTokenText(newTokenId(random), random)
  if (kind === 1) return `psin_${newTokenId(random)}_${base62(49, random)}`
  return base62(32 + Math.floor(random() * 200), random)
}
