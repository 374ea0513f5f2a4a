import type { Incoming, Reply, Route, RouteShape } from '@penstock/http'
import { z } from 'zod'
import { rfc3339 } from '../contract/rfc3339.ts'
import { ApiError } from '../operations/api-error.ts'
import { inputError, parseInput } from '../operations/operation-input.ts'
import { endSession, type Session, signIn } from '../sessions/session.ts'
import { CSRF_HEADER, requireCsrfToken, sessionDenial, sessionIn } from './caller-guard.ts'
import type { Denials } from './denials.ts'
import { errorResponses } from './error-answers.ts'
import type { ManagementDeps } from './management-context.ts'
import { otlpUrl } from './otlp-url.ts'
import { sessionSecretOf, setSessionCookie } from './session-cookie.ts'
import { instantText } from './token-responses.ts'

const PATH = '/api/v1/session'
const tag = 'session'
const SET_COOKIE = { 'Set-Cookie': 'HttpOnly; SameSite=Strict; Path=/; over HTTPS also Secure and __Host-' }

const sessionBody = z
  .strictObject({
    role: z.enum(['Viewer', 'Editor', 'Admin']),
    key_name: z.string().meta({ description: 'Name of the API key that the session belongs to' }),
    csrf_token: z.string().meta({ description: 'Value of X-Penstock-CSRF for requests that change something' }),
    expires_at: instantText.meta({ description: 'When the session ends unless it is used before' }),
    observe: z.strictObject({
      connected: z.boolean().meta({ description: 'Whether the gateway has a store of telemetry that it can query' }),
    }),
    ingest: z.strictObject({
      otlp_url: z.string().meta({
        description:
          'Base URL of OTLP/HTTP for senders: the configured one; else that of the listener, with the host of this request if it listens on every interface',
      }),
    }),
    core: z.strictObject({
      url: z.string().nullable().meta({
        description:
          'Address of the core of this service. URLs of pipelines and jobs below it, in the telemetry of its projects, have no page',
      }),
    }),
  })
  .meta({ id: 'Session' })

/** A key or a code. Their texts are checked by the sign-in, which answers 401 for any that is not valid. */
const signInInput = z
  .strictObject({ api_key: z.string().max(1_024).optional(), code: z.string().max(1_024).optional() })
  .meta({ id: 'SignIn', minProperties: 1, maxProperties: 1 })

/** The descriptions of the routes. `access` is the kind of credential that a route requires. */
export const sessionShapes = {
  create: {
    method: 'POST',
    path: PATH,
    access: undefined,
    body: signInInput,
    documentation: {
      operationId: 'createSession',
      tag,
      summary: 'Sign in with an API key or with the code of a sign-in link',
      description: 'A session ends after 8 hours without use, after 24 hours in any case, and with its API key.',
      responses: {
        201: { description: 'Signed in', body: sessionBody, headers: SET_COOKIE },
        ...errorResponses(
          'invalid_json',
          'invalid_field',
          'unknown_field',
          'forbidden',
          'body_too_large',
          'unsupported_media_type',
        ),
      },
    },
  },
  get: {
    method: 'GET',
    path: PATH,
    access: 'session',
    documentation: {
      operationId: 'getSession',
      tag,
      summary: 'Show the session of this browser',
      responses: { 200: { description: 'The session', body: sessionBody }, ...errorResponses() },
    },
  },
  end: {
    method: 'DELETE',
    path: PATH,
    access: 'session',
    headers: z.object({ [CSRF_HEADER]: z.string() }),
    documentation: {
      operationId: 'endSession',
      tag,
      summary: 'Sign out',
      responses: { 204: { description: 'Signed out', headers: SET_COOKIE }, ...errorResponses('csrf_token_required') },
    },
  },
} as const satisfies Record<string, RouteShape<'session' | undefined>>

/**
 * Returns the routes of sessions. They have no guard, because each of them finds the session itself.
 *
 * A page of another site cannot sign a browser in: the body must be JSON, which browsers send to another site only after a
 * preflight request, and this API answers none. The metadata of the request is checked too.
 */
export function sessionRoutes(deps: ManagementDeps, denials: Denials): readonly Route<undefined, undefined>[] {
  const body = ({ actor, csrfToken, expiresAtMs }: Session, { raw }: Incoming): z.input<typeof sessionBody> => ({
    role: actor.role,
    key_name: actor.name,
    csrf_token: csrfToken,
    expires_at: rfc3339(expiresAtMs),
    observe: { connected: deps.isStoreConnected },
    ingest: { otlp_url: otlpUrl(deps.otlp, raw.headers.host) },
    core: { url: deps.coreUrl?.() ?? null },
  })

  const limit = (keyId: string) => denials.limitSignIns(keyId)

  async function create(incoming: Incoming, sent: unknown): Promise<Reply> {
    if (isFromElsewhere(incoming)) {
      await denials.audit(undefined, incoming, 'createSession', 'forbidden')
      throw new ApiError('forbidden', 'Sign in on a page of this address.')
    }
    const { api_key, code } = parseInput(signInInput, sent)
    if (api_key !== undefined && code !== undefined) throw inputError([{ field: 'code', problem: 'not_with_api_key' }])
    if (api_key === undefined && code === undefined) throw inputError([{ field: 'api_key', problem: 'required' }])
    const { source, requestId, raw } = incoming
    const origin = { source, requestId, previousSecret: sessionSecretOf(raw, deps) }
    const proof = api_key === undefined ? { code: code! } : { apiKey: api_key.trim() }
    const created = await signIn({ ...deps, limit }, proof, origin, deps.nowMs())
    if (created === undefined) {
      const message =
        'code' in proof
          ? 'This sign-in link was used before or is older than ten minutes. Make another with: penstock console link'
          : 'This API key is not valid.'
      throw await denials.unauthenticated(incoming, 'createSession', message)
    }
    return { status: 201, headers: setSessionCookie(raw, created.secret, deps), json: body(created.session, incoming) }
  }

  async function requireSession(incoming: Incoming, operation: 'getSession' | 'endSession'): Promise<Session> {
    const session = await sessionIn(deps, incoming)
    if (session !== undefined) return session
    const message = 'There is no session: sign in first.'
    // A browser that has never signed in has guessed nothing.
    if (sessionSecretOf(incoming.raw, deps) === undefined) throw new ApiError('unauthenticated', message)
    throw await sessionDenial(deps, denials, incoming, operation, message)
  }

  return [
    { ...sessionShapes.create, access: undefined, handle: (request) => create(request, request.body) },
    {
      ...sessionShapes.get,
      access: undefined,
      handle: async (request) => ({ status: 200, json: body(await requireSession(request, 'getSession'), request) }),
    },
    {
      ...sessionShapes.end,
      access: undefined,
      async handle(request) {
        const session = await requireSession(request, 'endSession')
        await requireCsrfToken(denials, request, 'endSession', session)
        await endSession(deps, session, request, deps.nowMs())
        return { status: 204, headers: setSessionCookie(request.raw, undefined, deps) }
      },
    },
  ]
}

/** Returns whether the browser reports that a page of another origin has sent the request (W3C Fetch Metadata). */
function isFromElsewhere({ raw }: Incoming): boolean {
  const site = raw.headers['sec-fetch-site']
  return site !== undefined && site !== 'same-origin' && site !== 'none'
}
