import type { Allowance, IngestToken, RefusedClient, TokenLimits } from '../../api/answers.ts'
import { type LimitedSignal, signals } from '../../api/tokens.ts'
import { agoText } from '../../components/time.ts'
import type { Tone } from './enforcement-model.ts'

export interface Expiry {
  readonly text: string
  /** Absent: nothing about it needs attention. */
  readonly tone?: Tone | undefined
}

export function toExpiry(token: Pick<IngestToken, 'expires_at' | 'expires_soon' | 'status'>, nowMs: number): Expiry {
  if (token.status === 'disabled') return { text: 'Disabled', tone: 'warning' }
  if (token.expires_at === null) return { text: 'Never' }
  const leftMs = Date.parse(token.expires_at) - nowMs
  const away = agoText(Date.parse(token.expires_at), nowMs)
  if (leftMs <= 0) return { text: `Expired ${away}`, tone: 'failed' }
  return { text: away === 'just now' ? 'now' : away, tone: token.expires_soon ? 'warning' : undefined }
}

const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** Returns a size with a decimal unit: `0 B`, `1.4 kB`, `42 MB`. */
export function bytesText(bytes: number): string {
  const power = Math.min(byteUnits.length - 1, bytes < 1_000 ? 0 : Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1_000 ** power
  const digits = power > 0 && value < 10 ? 1 : 0
  return `${value.toLocaleString('en-US', { maximumFractionDigits: digits })} ${byteUnits[power]}`
}

/** Returns the signals of a token; all of them are `all`. */
export const signalsText = ({ signals: own }: Pick<IngestToken, 'signals'>): string =>
  own.length === signals.length ? 'all' : own.join(', ')

const windowNames = { second: 'a second', day: 'a day' } as const

/** Returns one line per limit, such as `traces: 100 requests a second`. */
export function limitLines(limits: TokenLimits | null): string[] {
  const entries = Object.entries(limits ?? {}) as [LimitedSignal, NonNullable<TokenLimits[LimitedSignal]>][]
  return entries.flatMap(([signal, windows]) =>
    (['second', 'day'] as const).flatMap((window) =>
      allowanceTexts(windows[window]).map((text) => `${signalName(signal)}: ${text} ${windowNames[window]}`),
    ),
  )
}

const signalName = (signal: LimitedSignal): string => (signal === 'all' ? 'all signals' : signal)

function allowanceTexts({ requests, bytes }: Allowance = {}): string[] {
  return [
    ...(requests === undefined ? [] : [`${requests.toLocaleString('en-US')} requests`]),
    ...(bytes === undefined ? [] : [bytesText(bytes)]),
  ]
}

export interface Restriction {
  readonly name: string
  readonly value: string
}

/** Returns what a token is restricted to besides its signals and limits, and what it adds to telemetry. */
export function restrictions(token: IngestToken): Restriction[] {
  const tags = Object.entries(token.tags).map(([key, value]) => `${key}=${value}`)
  const rows: [string, readonly string[]][] = [
    ['Description', token.description === null || token.description === '' ? [] : [token.description]],
    ['Limits', limitLines(token.limits)],
    ['Tenant', token.tenant === null ? [] : [token.tenant]],
    ['Tags', tags],
    ['Origins', token.allowed_origins],
    ['Client certificates', token.client_certificate_sans],
    ['Query', token.allow_query ? ['also accepted as access_token in the URL'] : []],
    ['Imported', token.imported ? ['from another system'] : []],
    ['Replaces', token.supersedes === null ? [] : [token.supersedes]],
  ]
  return rows.flatMap(([name, values]) => (values.length === 0 ? [] : [{ name, value: values.join('; ') }]))
}

interface ReasonRow {
  readonly text: string
  readonly tone: Tone
}

/** The reasons of the gateway in words. An unknown one is shown as it is. */
const reasonRows: Readonly<Record<string, ReasonRow>> = {
  missing: { text: 'no token', tone: 'warning' },
  malformed: { text: 'malformed token', tone: 'warning' },
  unknown: { text: 'unknown token', tone: 'warning' },
  bad_secret: { text: 'wrong token', tone: 'failed' },
  expired: { text: 'token expired', tone: 'failed' },
  revoked: { text: 'token revoked', tone: 'failed' },
  disabled: { text: 'token disabled', tone: 'failed' },
  signal: { text: 'token not for this signal', tone: 'failed' },
  origin: { text: 'token not for this origin', tone: 'failed' },
  certificate: { text: 'token not for this certificate', tone: 'failed' },
}

export function toReasonRow({ reason }: Pick<RefusedClient, 'reason'>): ReasonRow {
  return Object.hasOwn(reasonRows, reason) ? reasonRows[reason]! : { text: reason, tone: 'warning' }
}

export function tokensSummary(tokens: readonly IngestToken[]): string {
  const valid = tokens.filter(({ status }) => status === 'valid').length
  return `${tokens.length} ${tokens.length === 1 ? 'token' : 'tokens'}, ${valid} valid`
}
