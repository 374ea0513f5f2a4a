import { z } from 'zod'
import { type IngestSignal, ingestSignalNames } from '../contract/signals.ts'
import type { TokenLimits } from '../contract/token-record.ts'
import { instant, numericText, singleLine } from '../operations/operation-input.ts'
import { hasSecretPrefix } from '../secrets/token-format.ts'
import { allowedOriginPattern } from './allowed-origins.ts'
import { importedLength, visibleAscii } from './authenticator.ts'
import { certificateNamePattern, normalCertificateName } from './certificate-names.ts'

const MAX_TAGS = 20
const MAX_ORIGINS = 20
const MAX_CERTIFICATE_NAMES = 10
export const MAX_OVERLAP_SECONDS = 30 * 86_400
const DEFAULT_OVERLAP_SECONDS = 86_400

const signals = z
  .array(z.enum(ingestSignalNames as [IngestSignal, ...IngestSignal[]]))
  .min(1)
  .transform((given) => ingestSignalNames.filter((signal) => given.includes(signal)))

const tags = z.record(singleLine(1, 64), singleLine(0, 256)).superRefine((given, context) => {
  if (Object.keys(given).length > MAX_TAGS) {
    context.addIssue({ code: 'custom', params: { problem: 'too_long', max: MAX_TAGS } })
  }
})

const positive = z.int().min(1).nullish()
const allowance = z.strictObject({ requests: positive, bytes: positive }).nullish()
const windows = z.strictObject({ second: allowance, day: allowance }).nullish()
const limits = z
  .strictObject({ traces: windows, metrics: windows, logs: windows, profiles: windows, all: windows })
  .transform((given) => withoutNulls(given) as TokenLimits | undefined)

/** Removes nulls, and objects that are empty without them. Returns `undefined` if nothing remains. */
function withoutNulls(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value ?? undefined
  const entries = Object.entries(value).flatMap(([key, inner]) => {
    const kept = withoutNulls(inner)
    return kept === undefined ? [] : [[key, kept] as const]
  })
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

const optional = {
  description: singleLine(0, 500).nullable().optional(),
  expires_at: instant.nullable().optional(),
  signals: signals.optional(),
  tags: tags.optional(),
  tenant: z
    .string()
    .min(1)
    .max(150)
    .regex(/^[A-Za-z0-9._-]+$/)
    .nullable()
    .optional(),
  allowed_origins: z.array(z.string().toLowerCase().max(300).regex(allowedOriginPattern)).max(MAX_ORIGINS).optional(),
  client_certificate_sans: z
    .array(z.string().max(300).regex(certificateNamePattern).transform(normalCertificateName))
    .max(MAX_CERTIFICATE_NAMES)
    .optional(),
  allow_query: z.boolean().optional(),
  limits: limits.nullable().optional(),
}

/** The body of a request that creates a token. */
export const createTokenInput = z.strictObject({ name: singleLine(1, 80), ...optional })
export type CreateTokenInput = z.output<typeof createTokenInput>

export const updateTokenInput = z.strictObject({
  name: singleLine(1, 80).optional(),
  disabled: z.boolean().optional(),
  ...optional,
})
export type UpdateTokenInput = z.output<typeof updateTokenInput>

/** `expires_at` applies to the new token. Without it, the new token gets the lifetime of the old one, counted from now. */
export const rotateTokenInput = z.strictObject({
  overlap_seconds: z.int().min(0).max(MAX_OVERLAP_SECONDS).default(DEFAULT_OVERLAP_SECONDS),
  expires_at: instant.nullable().optional(),
})

/** A token from another system (T-15): visible ASCII without our prefixes. */
export const importTokenInput = z.strictObject({
  ...createTokenInput.shape,
  token: z
    .string()
    .min(importedLength.min)
    .max(importedLength.max)
    .regex(visibleAscii)
    .refine((text) => !hasSecretPrefix(text), { params: { problem: 'own_form' } }),
})

export const verifyTokenInput = z.strictObject({
  token: z.string().min(1).max(512),
  /** Absent: the signal is not checked. */
  signal: z.enum(ingestSignalNames as [IngestSignal, ...IngestSignal[]]).optional(),
  /** Absent: the origin is not checked. */
  origin: z.string().max(300).optional(),
})

/** The highest number of items in a page of a list. */
export const MAX_PAGE = 100

/** The query of the list. Every value is text. Without `limit`, the whole list is returned. */
export const listTokensInput = z.strictObject({
  limit: numericText(1, MAX_PAGE).optional(),
  cursor: z.string().max(64).optional(),
  status: z.enum(['valid', 'disabled', 'expired', 'revoked', 'all']).optional(),
  // A text with U+0000 cannot be sent to PostgreSQL.
  name: z
    .string()
    .max(80)
    .refine((text) => !text.includes('\0'))
    .optional(),
})
