import { ingestSignalNames } from '../ingest/signals.ts'
import type { TokenRecord } from './token-record.ts'

/** Good for all signals and for ever, but for what `changes` say. */
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
