import { z } from 'zod'
import { reasons } from '../contract/admission.ts'
import { type IngestSignal, ingestSignalNames } from '../contract/signals.ts'
import type { CreatedTokenJson, ListedTokenJson, RotatedTokenJson, TokenJson } from '../tokens/token-json.ts'
import type { TokenCheck } from '../tokens/token-operations.ts'

export const instantText = z.iso.datetime()
export const count = z.int().min(0)

const signalNames = z.enum(ingestSignalNames as [IngestSignal, ...IngestSignal[]])
const allowance = z.strictObject({ requests: count.exactOptional(), bytes: count.exactOptional() })
const windows = z.strictObject({ second: allowance.exactOptional(), day: allowance.exactOptional() }).exactOptional()

const tokenFields = {
  id: z.string().length(12),
  name: z.string(),
  description: z.string().nullable(),
  service_account: z.literal('otel-ingest'),
  status: z.enum(['valid', 'disabled', 'expired', 'revoked']),
  signals: z.array(signalNames),
  tags: z.record(z.string(), z.string()),
  tenant: z.string().nullable(),
  allowed_origins: z.array(z.string()),
  client_certificate_sans: z
    .array(z.string())
    .meta({ description: 'DNS:, URI: or email: names; checked where the listener demands client certificates' }),
  allow_query: z.boolean().meta({ description: 'May be sent as the query parameter access_token' }),
  limits: z
    .strictObject({ traces: windows, metrics: windows, logs: windows, profiles: windows, all: windows })
    .nullable(),
  imported: z.boolean(),
  created_at: instantText,
  created_by: z
    .strictObject({ id: z.string(), role: z.string() })
    .exactOptional()
    .meta({ description: 'Not shown to a Viewer' }),
  expires_at: instantText.nullable(),
  last_used_at: instantText.nullable(),
  supersedes: z.string().nullable().meta({ description: 'Id of the token that this one replaces' }),
  warnings: z.array(z.enum(['name_in_use', 'last_valid_token_ends'])),
}

const secret = z.string().meta({ description: 'The token itself, in this answer only' })

export const createdToken = z
  .strictObject({ ...tokenFields, token: secret })
  .meta({ id: 'CreatedToken' }) satisfies z.ZodType<CreatedTokenJson>

export const rotatedToken = z
  .strictObject({
    ...tokenFields,
    token: secret,
    superseded: z.strictObject({
      id: z.string(),
      expires_at: instantText.nullable(),
      last_used_at: instantText.nullable(),
    }),
  })
  .meta({ id: 'RotatedToken' }) satisfies z.ZodType<RotatedTokenJson>

const perHour = z.array(count).length(24)

const usageByHour = z
  .strictObject({ since: instantText, requests: perHour, bytes: perHour, rejected: perHour })
  .nullable()
  .meta({
    description:
      'One number for each hour of usage_24h: the first hour begins at `since`, the last is the current one. null: not used',
  })

const listedFields = {
  ...tokenFields,
  expires_in_seconds: count.nullable().meta({ description: 'null: the token never expires' }),
  expires_soon: z.boolean().meta({ description: 'True in the 7 days before the expiry' }),
  usage_24h: z.strictObject({ requests: count, bytes: count, rejected: count }),
  usage_by_hour: usageByHour,
}

export const listedToken = z
  .strictObject(listedFields)
  .meta({ id: 'Token' }) satisfies z.ZodType<ListedTokenJson> satisfies z.ZodType<TokenJson>

/** The answer to a repeated creation: what the first one created, without its secret. */
export const alreadyCreatedToken = z
  .strictObject({ ...listedFields, code: z.literal('already_created') })
  .partial()
  .required({ id: true, code: true })
  .meta({ id: 'AlreadyCreatedToken' })

export const tokenCheck = z
  .strictObject({ valid: z.boolean(), reason: z.enum(reasons).nullable(), id: z.string().nullable() })
  .meta({ id: 'TokenCheck' }) satisfies z.ZodType<TokenCheck>
