import type { ApiKey, AuditEvent } from '../../api/answers.ts'
import type { TokenSummary } from '../../api/tokens.ts'
import { modes } from './enforcement-model.ts'

/** The names of tokens and keys by id; an event has only ids. */
export interface AuditNames {
  readonly tokens: ReadonlyMap<string, string>
  readonly keys: ReadonlyMap<string, string>
}

export interface AuditRow {
  readonly id: string
  readonly at: string
  readonly text: string
  /** The name of the token or key, or its id if it has no name any more. */
  readonly subject: string
  readonly by: string
  readonly source: string | null
  readonly requestId: string | null
}

const texts: Readonly<Record<string, string>> = {
  'token.created': 'Token created',
  'token.imported': 'Token imported',
  'token.updated': 'Token changed',
  'token.rotated': 'Token rotated',
  'token.revoked': 'Token revoked',
  'token.revoke_refused': 'Revocation refused, last valid token',
  'token.expired': 'Token expired',
  'api_key.created': 'API key created',
  'api_key.revoked': 'API key revoked',
  'api_key.revoke_refused': 'Revocation refused, last Admin key',
  'session.created': 'Signed in',
  'session.ended': 'Signed out',
  'sign_in_code.created': 'Sign-in link created',
}

/** The events that the log can be filtered by. */
export const auditEventNames: readonly { readonly value: string; readonly label: string }[] = [
  ...Object.entries(texts).map(([value, label]) => ({ value, label })),
  { value: 'state.changed', label: 'Enforcement mode changed' },
  { value: 'api.denied', label: 'Call refused' },
]

export const auditNames = (tokens: readonly TokenSummary[], keys: readonly ApiKey[]): AuditNames => ({
  tokens: new Map(tokens.map(({ id, name }) => [id, name])),
  keys: new Map(keys.map(({ id, name }) => [id, name])),
})

/** Returns a row of the table `Audit`. */
export function auditRow(event: AuditEvent, names: AuditNames): AuditRow {
  return {
    id: event.id,
    at: event.at,
    text: textOf(event),
    subject: subjectOf(event, names),
    by: actorOf(event, names),
    source: event.source,
    requestId: event.request_id,
  }
}

function textOf({ event, before, after }: AuditEvent): string {
  if (event === 'state.changed') {
    const reason = textAt(after, 'reason')
    const change = `Enforcement mode changed, ${modeName(before)} to ${modeName(after)}`
    return reason === undefined || reason === '' ? change : `${change}: ${reason}`
  }
  if (event === 'api.denied') {
    const operation = textAt(after, 'operation') ?? 'a call'
    return textAt(after, 'code') === 'forbidden'
      ? `Refused ${operation}, role too low`
      : `Refused ${operation}, no valid key`
  }
  if (event === 'session.ended' && textAt(after, 'by') === 'too_many') return 'Session ended, its key has too many'
  if (event === 'token.updated') return `Token changed${changedFields(before, after)}`
  return Object.hasOwn(texts, event) ? texts[event]! : event
}

function changedFields(before: unknown, after: unknown): string {
  if (!isObject(before) || !isObject(after)) return ''
  const changed = Object.keys(after).filter((key) => JSON.stringify(after[key]) !== JSON.stringify(before[key]))
  return changed.length === 0 ? '' : `: ${changed.join(', ')}`
}

function modeName(value: unknown): string {
  const mode = textAt(value, 'mode')
  return modes.find((row) => row.mode === mode)?.name.toLowerCase() ?? mode ?? 'unknown'
}

/** The subject of other events, such as a session, has no name. */
const namedSubjects = /^(token|api_key)\./

function subjectOf({ event, subject_id, before, after }: AuditEvent, { tokens, keys }: AuditNames): string {
  if (subject_id === null || !namedSubjects.test(event)) return ''
  const recorded = textAt(after, 'name') ?? textAt(before, 'name')
  const known = event.startsWith('api_key.') ? keys : tokens
  return recorded ?? known.get(subject_id) ?? subject_id
}

function actorOf({ actor, event }: AuditEvent, { keys }: AuditNames): string {
  if (actor === null) return event === 'api.denied' ? 'unknown caller' : 'system'
  const name = keys.get(actor.id) ?? actor.id
  return actor.role === null ? name : `${name}, ${actor.role}`
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

function textAt(value: unknown, key: string): string | undefined {
  const found = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
  return typeof found === 'string' ? found : undefined
}
