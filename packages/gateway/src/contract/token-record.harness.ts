import { ingestSignalNames } from './signals.ts'
import type { TokenRecord } from './token-record.ts'

/** Returns a token that is valid for all signals and never expires, except for what `changes` overrides. */
export function tokenRecord(changes: Partial<TokenRecord> = {}): TokenRecord {
  return {
    id: '7Hq2mK9sT4bZ',
    name: 'ci',
    mac: new Uint8Array(32),
    pepperId: 'p',
    signals: new Set(ingestSignalNames),
    tenant: undefined,
    allowedOrigins: [],
    certificateNames: [],
    allowQuery: false,
    limits: undefined,
    expiresAtMs: undefined,
    revokedAtMs: undefined,
    disabled: false,
    ...changes,
  }
}
