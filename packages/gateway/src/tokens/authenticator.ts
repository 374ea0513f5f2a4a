import { timingSafeEqual } from 'node:crypto'
import type { AdmissionRequest, Reason, Verdict } from '../contract/admission.ts'
import type { BearerCredential } from '../contract/credential.ts'
import type { StoredSnapshot } from '../contract/snapshot.ts'
import type { TokenRecord } from '../contract/token-record.ts'
import { HmacSha256 } from '../secrets/hmac-sha256.ts'
import type { Peppers } from '../secrets/pepper.ts'
import { hasSecretPrefix, parseSecretText } from '../secrets/token-format.ts'
import { isOriginAllowed } from './allowed-origins.ts'
import { isCertificateAllowed } from './certificate-names.ts'
import { statusAt } from './token-status.ts'

/** The allowed length of an imported token, in characters (T-15). */
export const importedLength = { min: 32, max: 256 } as const
export const visibleAscii = /^[\x21-\x7e]+$/

const refused = (reason: Reason): Verdict => ({ allowed: false, reason, token: undefined })
const missing = refused('missing')
const malformed = refused('malformed')
const unknown = refused('unknown')
const badSecret = refused('bad_secret')

/** The hash that is compared for an unknown id, so that refusing it takes as long as refusing a wrong secret (T-7). */
const dummyMac = new Uint8Array(32)

/**
 * Checks the credential of a request against a snapshot, without I/O. The verdict does not depend on the mode (E-1, E-2).
 *
 * Throws if the pepper of a token is missing. This is a fault of the gateway, not of the client. The reasons are defined
 * by rules T-3, T-7, T-8, T-15 and E-8.
 */
export class Authenticator {
  readonly #hashes: ReadonlyMap<string, HmacSha256>
  readonly #newest: HmacSha256

  constructor(peppers: Peppers) {
    this.#hashes = new Map([...peppers.byId].map(([id, key]) => [id, new HmacSha256(key)]))
    const newest = this.#hashes.get(peppers.newestId)
    if (newest === undefined) throw new Error(`The newest pepper, ${peppers.newestId}, is not among the peppers`)
    this.#newest = newest
  }

  authenticate(
    presented: Pick<AdmissionRequest, 'credential' | 'signal' | 'origin' | 'certificateNames'>,
    snapshot: StoredSnapshot,
    nowMs: number,
  ): Verdict {
    const { credential } = presented
    if (credential.kind === 'none') return missing
    if (credential.kind === 'malformed') return malformed
    const verdict = this.identify(credential, snapshot, nowMs)
    if (!verdict.allowed) return verdict
    const { token } = verdict
    if (credential.from === 'query' && !token.allowQuery) return { allowed: false, reason: 'malformed', token }
    if (!token.signals.has(presented.signal)) return { allowed: false, reason: 'signal', token }
    if (!isOriginAllowed(token.allowedOrigins, presented.origin)) return { allowed: false, reason: 'origin', token }
    if (!isCertificateAllowed(token.certificateNames, presented.certificateNames)) {
      return { allowed: false, reason: 'certificate', token }
    }
    return verdict
  }

  /** Finds the token of a credential and checks that it is valid now, without checking what it is used for. */
  identify(
    credential: Pick<BearerCredential, 'value' | 'hashedWith' | 'tokenId'>,
    snapshot: StoredSnapshot,
    nowMs: number,
  ): Verdict {
    const { value } = credential
    if (!hasSecretPrefix(value)) return this.#identifyImported(value, snapshot, nowMs)
    const id = credential.tokenId === undefined ? tokenIdIn(value) : credential.tokenId(tokenIdIn)
    if (id === undefined) return malformed
    const token = snapshot.byId.get(id)
    const hash = token === undefined ? this.#newest : this.#hashes.get(token.pepperId)
    if (hash === undefined) throw new Error(`The pepper of token ${id} is not among those of this process`)
    const mac = credential.hashedWith?.(hash) ?? hash.digest(value)
    const equal = timingSafeEqual(mac, token === undefined ? dummyMac : token.mac)
    if (token === undefined) return unknown
    return equal ? verdictOn(token, nowMs) : badSecret
  }

  /**
   * Looks a token up by its keyed hash. The duration of the lookup can only reveal hashes, which are useless to a
   * client without the pepper.
   */
  #identifyImported(value: string, snapshot: StoredSnapshot, nowMs: number): Verdict {
    if (value.length < importedLength.min || value.length > importedLength.max) return malformed
    if (snapshot.byMac.size === 0 || !visibleAscii.test(value)) return unknown
    for (const hash of this.#hashes.values()) {
      const mac = hash.digest(value)
      const token = snapshot.byMac.get(Buffer.from(mac.buffer).toString('hex'))
      if (token !== undefined) return verdictOn(token, nowMs)
    }
    return unknown
  }
}

const tokenIdIn = (value: string): string | undefined => parseSecretText('ingest', value)?.id

/** Returns the verdict on a token after its secret was verified. Only then may the reason be disclosed (T-8). */
function verdictOn(token: TokenRecord, nowMs: number): Verdict {
  const status = statusAt(token, nowMs)
  return status === 'valid' ? { allowed: true, token } : { allowed: false, reason: status, token }
}
