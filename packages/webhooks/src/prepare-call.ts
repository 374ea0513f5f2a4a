import {
  type Core,
  digestOfUrl,
  effectiveUrl,
  type Hook,
  type HookCallStart,
  type HookSwitchName,
  headerName,
  hookSwitches,
  OVERSIZE_DATA,
  serviceVersion,
  targetOf,
  withoutCredentials,
} from '@penstock/core'
import { newUuid } from './new-uuid.ts'
import { type Json, REDACTED } from './payloads/shared-objects.ts'
import { redactedJson } from './redaction.ts'
import { signatureHeaders } from './signature.ts'
import { renderTemplate, TemplateError } from './template.ts'

/** The limit of a request body. */
const MAX_BODY_BYTES = 25 * 1024 * 1024
/** The limit of request data in the event log. */
const MAX_LOGGED_BYTES = 1024 * 1024

/** A request to the receiver of a hook. */
export interface PreparedCall {
  /** The entry of the event log, without secrets. */
  readonly start: HookCallStart
  /** The request, or why it cannot be sent. */
  readonly request: PreparedRequest | { readonly reason: string }
}

export interface PreparedRequest {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** The names of headers, in lower case, that only the host of the hook may get. */
  readonly secretHeaders: ReadonlySet<string>
  readonly body: Uint8Array
}

export interface CallFacts {
  readonly event: HookSwitchName
  readonly eventUuid: string
  readonly idempotencyKey: string
}

/** Prepares a request with the payload of an event. */
export function prepareCall(core: Core, hook: Hook, facts: CallFacts, payload: Json): PreparedCall {
  let text: string
  try {
    text = hook.customWebhookTemplate ? renderTemplate(hook.customWebhookTemplate, payload) : JSON.stringify(payload)
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    return unpreparedCall(hook, facts, error.message)
  }
  return prepareBody(core, hook, facts, text)
}

/** Returns a call that cannot be made, for the event log. */
export const unpreparedCall = (hook: Hook, facts: CallFacts, reason: string): PreparedCall => ({
  start: startOf(hook, facts, { headers: {}, data: '{}' }),
  request: { reason },
})

/** Prepares a request with a body that is ready. */
export function prepareBody(core: Core, hook: Hook, facts: CallFacts, text: string): PreparedCall {
  const body = Buffer.from(text)
  const own = ownHeaders(core, hook, facts)
  const signed = signedHeaders(core, hook, facts, body)
  const data = body.length > MAX_LOGGED_BYTES ? OVERSIZE_DATA : redactedJson(text)
  const start = startOf(hook, facts, { headers: { ...loggedHeaders(hook, own), ...signed }, data })
  const target = targetOf(effectiveUrl(hook) ?? '')
  const refused = (reason: string): PreparedCall => ({ start, request: { reason } })
  if (target === undefined) return refused('URL is blocked: URI is invalid')
  if (body.length > MAX_BODY_BYTES) return refused('The payload is too large')
  const custom = hook.secrets.customHeaders
  if (Object.values(custom).some(hasControlCharacter)) return refused('A custom header is invalid')
  if (Object.values(own).some(hasControlCharacter)) return refused('The token is invalid')
  const { url, authorization } = target
  const secret = [...Object.keys(custom), 'Authorization', tokenHeader(core)].map((name) => name.toLowerCase())
  return {
    start,
    request: {
      url,
      headers: inBytes(
        withCustomHeaders(custom, { ...own, ...signed, ...(authorization && { Authorization: authorization }) }),
      ),
      secretHeaders: new Set(secret),
      body,
    },
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the values of headers cannot contain these characters
const hasControlCharacter = (value: string): boolean => /[\u0000-\u0008\u000a-\u001f\u007f]/.test(value)

/** Returns headers for a client that writes one byte per character: other characters are sent in UTF-8. */
const inBytes = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Buffer.from(value).toString('latin1')]))

const tokenHeader = (core: Core): string => `X-${headerName(core.settings.serviceName)}-Token`

/** Receivers recognise GitLab by its own spelling, which differs from that in the names of headers. */
const product = ({ settings: { serviceName } }: Core): string =>
  serviceName === 'gitlab' ? 'GitLab' : headerName(serviceName)

function ownHeaders(core: Core, { secrets }: Hook, { event, eventUuid, idempotencyKey }: CallFacts) {
  const name = headerName(core.settings.serviceName)
  return {
    'Content-Type': 'application/json',
    'User-Agent': `${product(core)}/${serviceVersion.version}`,
    'Idempotency-Key': idempotencyKey,
    [`X-${name}-Event`]: hookSwitches[event].event,
    [`X-${name}-Webhook-UUID`]: newUuid(core),
    [`X-${name}-Instance`]: core.settings.externalUrl,
    [`X-${name}-Event-UUID`]: eventUuid,
    ...(secrets.token !== undefined && { [tokenHeader(core)]: secrets.token.replaceAll(/[\r\n]/g, '') }),
  }
}

const signedHeaders = (core: Core, { secrets }: Hook, { idempotencyKey: id }: CallFacts, body: Uint8Array) =>
  secrets.signingToken === undefined
    ? {}
    : signatureHeaders(secrets.signingToken, { id, atMs: core.clock.nowMs(), body })

/** Adds custom headers to those of the service. A custom header never replaces another one, in any case of its letters. */
function withCustomHeaders(custom: Readonly<Record<string, string>>, own: Readonly<Record<string, string>>) {
  const taken = new Set(Object.keys(own).map((name) => name.toLowerCase()))
  const others = Object.entries(custom).filter(([name]) => !taken.has(name.toLowerCase()) && !isFraming(name))
  return { ...Object.fromEntries(others), ...own }
}

/** Headers that the connection sets itself. */
const isFraming = (name: string): boolean =>
  /^(?:host|connection|content-length|transfer-encoding|keep-alive|upgrade|te|trailer|expect)$/i.test(name)

/** Returns the headers of the event log, without the values that only the receiver may know. */
const loggedHeaders = ({ secrets }: Hook, own: Readonly<Record<string, string>>): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(Object.keys(secrets.customHeaders).map((name) => [name, REDACTED])),
  ...Object.fromEntries(Object.entries(own).map(([name, value]) => [name, name.endsWith('-Token') ? REDACTED : value])),
})

const startOf = (
  hook: Hook,
  { event, idempotencyKey }: CallFacts,
  { headers, data }: { readonly headers: Readonly<Record<string, string>>; readonly data: string },
): HookCallStart => ({
  hookId: hook.id,
  trigger: hookSwitches[event].trigger,
  url: withoutCredentials(hook.url),
  urlDigest: digestOfUrl(effectiveUrl(hook) ?? ''),
  idempotencyKey,
  requestHeaders: headers,
  requestData: data,
})
