import type { Allowance, IngestToken, Signal } from '../../api/answers.ts'
import { type LimitedSignal, signals } from '../../api/tokens.ts'

export type ExpiryChoice = 'never' | '90d' | '1y' | 'date'

export const expiryChoices: readonly { readonly choice: ExpiryChoice; readonly name: string }[] = [
  { choice: 'never', name: 'Never' },
  { choice: '90d', name: 'In 90 days' },
  { choice: '1y', name: 'In 1 year' },
  { choice: 'date', name: 'On a date' },
]

export const limitedSignals: readonly LimitedSignal[] = ['all', ...signals]

export const limitColumns = [
  { window: 'second', measure: 'requests', name: 'Requests a second' },
  { window: 'second', measure: 'bytes', name: 'Bytes a second' },
  { window: 'day', measure: 'requests', name: 'Requests a day' },
  { window: 'day', measure: 'bytes', name: 'Bytes a day' },
] as const
export type LimitColumn = (typeof limitColumns)[number]

/** The name of a limit's field in the form, and of the same limit in the errors of the API. */
export const limitField = (signal: LimitedSignal, { window, measure }: LimitColumn): string =>
  `limits.${signal}.${window}.${measure}`

/** The text of each field, as it was typed. */
export interface TokenForm {
  readonly name: string
  readonly description: string
  readonly expiry: ExpiryChoice
  /** A date and time of the viewer's zone, as an input of the type `datetime-local` has it. */
  readonly expiryDate: string
  readonly signals: readonly Signal[]
  /** One `key=value` per line. */
  readonly tags: string
  readonly tenant: string
  /** One per line. */
  readonly origins: string
  /** One per line. */
  readonly certificateNames: string
  readonly allowQuery: boolean
  /** The texts of the limits; {@link limitField} returns their keys. */
  readonly limits: Readonly<Record<string, string>>
}

export const emptyTokenForm: TokenForm = {
  name: '',
  description: '',
  expiry: 'never',
  expiryDate: '',
  signals,
  tags: '',
  tenant: '',
  origins: '',
  certificateNames: '',
  allowQuery: false,
  limits: {},
}

/** The problems of a form. The keys are names of fields in the API. */
export type FieldErrors = Readonly<Record<string, string>>

export type TokenDraft = { readonly body: Readonly<Record<string, unknown>> } | { readonly errors: FieldErrors }

/** Returns the body that creates the token, or what to correct. Fields that were left alone are left out. */
export function tokenDraft(form: TokenForm, nowMs: number): TokenDraft {
  const errors: Record<string, string> = {}
  const tags = tagsOf(form.tags, errors)
  const limits = limitsOf(form.limits, errors)
  if (form.name.trim() === '') errors.name = 'Give the token a name.'
  if (form.signals.length === 0) errors.signals = 'Choose at least one signal.'
  const expiresAt = expiryInstant(form, nowMs)
  if (expiresAt === undefined) errors.expires_at = 'Choose a time in the future.'
  if (Object.keys(errors).length > 0) return { errors }
  return {
    body: {
      name: form.name.trim(),
      expires_at: expiresAt,
      ...(form.description.trim() !== '' && { description: form.description.trim() }),
      ...(form.signals.length < signals.length && { signals: signals.filter((each) => form.signals.includes(each)) }),
      ...(Object.keys(tags).length > 0 && { tags }),
      ...(form.tenant.trim() !== '' && { tenant: form.tenant.trim() }),
      ...(form.origins.trim() !== '' && { allowed_origins: linesOf(form.origins) }),
      ...(form.certificateNames.trim() !== '' && { client_certificate_sans: linesOf(form.certificateNames) }),
      ...(form.allowQuery && { allow_query: true }),
      ...(Object.keys(limits).length > 0 && { limits }),
    },
  }
}

/** Returns the body that makes a token what the form says: unlike a creation, it also clears what was emptied. */
export function tokenUpdate(form: TokenForm, nowMs: number): TokenDraft {
  const draft = tokenDraft(form, nowMs)
  if ('errors' in draft) return draft
  const cleared = {
    description: null,
    signals,
    tags: {},
    tenant: null,
    allowed_origins: [],
    client_certificate_sans: [],
    allow_query: false,
    limits: null,
  }
  return { body: { ...cleared, ...draft.body } }
}

/** Returns the form with the values of a token. */
export function tokenForm(token: IngestToken): TokenForm {
  const limits = limitedSignals.flatMap((signal) =>
    limitColumns.flatMap((column) => {
      const value = token.limits?.[signal]?.[column.window]?.[column.measure]
      return value === undefined ? [] : [[limitField(signal, column), String(value)] as const]
    }),
  )
  return {
    name: token.name,
    description: token.description ?? '',
    expiry: token.expires_at === null ? 'never' : 'date',
    expiryDate: token.expires_at === null ? '' : toLocalInput(token.expires_at),
    signals: token.signals,
    tags: Object.entries(token.tags)
      .map(([key, value]) => `${key}=${value}`)
      .join('\n'),
    tenant: token.tenant ?? '',
    origins: token.allowed_origins.join('\n'),
    certificateNames: token.client_certificate_sans.join('\n'),
    allowQuery: token.allow_query,
    limits: Object.fromEntries(limits),
  }
}

const DAY_MS = 86_400_000
const choiceMs = { '90d': 90 * DAY_MS, '1y': 365 * DAY_MS } as const

/** Returns the time as RFC 3339, `null` for never, or `undefined` if there is no such time in the future. */
export function expiryInstant(
  form: Pick<TokenForm, 'expiry' | 'expiryDate'>,
  nowMs: number,
): string | null | undefined {
  if (form.expiry === 'never') return null
  // A `Date` reads a text without a zone in the viewer's zone.
  const ms = form.expiry === 'date' ? new Date(form.expiryDate).getTime() : nowMs + choiceMs[form.expiry]
  return ms > nowMs ? new Date(ms).toISOString() : undefined
}

/** Returns a time as the text that an input of the type `datetime-local` takes, in the viewer's zone. */
export function toLocalInput(at: string): string {
  const ms = Date.parse(at)
  const zoneMs = new Date(ms).getTimezoneOffset() * 60_000
  return new Date(ms - zoneMs).toISOString().slice(0, 19)
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

function tagsOf(text: string, errors: Record<string, string>): Record<string, string> {
  const pairs = linesOf(text).map((line) => {
    const at = line.indexOf('=')
    if (at < 1) errors.tags = 'Write one key=value per line.'
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()] as const
  })
  return Object.fromEntries(pairs)
}

type Limits = Partial<Record<LimitedSignal, Partial<Record<'second' | 'day', Allowance>>>>

function limitsOf(texts: Readonly<Record<string, string>>, errors: Record<string, string>): Limits {
  const limits: Limits = {}
  for (const signal of limitedSignals) {
    for (const column of limitColumns) {
      const field = limitField(signal, column)
      const text = texts[field]?.trim() ?? ''
      if (text === '') continue
      const value = parseAmount(text)
      if (value === undefined) errors[field] = 'Write a whole number such as 500, 20k or 10M.'
      else {
        const windows = limits[signal] ?? {}
        limits[signal] = { ...windows, [column.window]: { ...windows[column.window], [column.measure]: value } }
      }
    }
  }
  return limits
}

const factors: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, g: 1e9 }

/** Reads a positive whole number, with k, M or G for thousands, millions and thousands of millions. */
export function parseAmount(text: string): number | undefined {
  const match = /^(\d{1,15})\s*([kmg]?)b?$/i.exec(text)
  if (match === null) return undefined
  const amount = Number(match[1]) * factors[match[2]!.toLowerCase()]!
  return amount > 0 && Number.isSafeInteger(amount) ? amount : undefined
}
