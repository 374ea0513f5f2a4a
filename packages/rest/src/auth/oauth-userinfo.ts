import { admit, type Core, findOAuthToken, identityClaims, userinfoScopes } from '@penstock/core'
import { type Reply, type RouteRequest, type ServedRoute, unguarded } from '@penstock/http'
import { z } from 'zod'
import { oauthTokenIn } from './bearer-token.ts'
import { fieldsOf } from './form-fields.ts'
import { invalidTokenReply, refusalReply } from './oauth-refusal.ts'
import { SMALL_FORM_LIMITS } from './session-cookie.ts'

const PATH = '/oauth/userinfo'

/** Returns the routes of the OpenID Connect UserInfo endpoint. @see OpenID Connect Core 1.0, section 5.3 */
export function userinfoRoutes(core: Core): ServedRoute[] {
  const handle = (request: RouteRequest) => userInfo(core, request)
  return unguarded([
    { method: 'GET', path: PATH, access: undefined, handle },
    { method: 'POST', path: PATH, access: undefined, body: z.unknown(), forms: SMALL_FORM_LIMITS, handle },
  ])
}

async function userInfo(core: Core, request: RouteRequest): Promise<Reply> {
  const presented = oauthTokenIn(request.raw.headers.authorization, { ...request.query, ...fieldsOf(request.body) })
  const found = presented === undefined ? undefined : await findOAuthToken(core, presented)
  if (found === undefined) return invalidTokenReply('invalid')
  const refusal = await admit(core, found, userinfoScopes)
  if (refusal === 'insufficient_scope') {
    return refusalReply(refusal, 'The request requires higher privileges than provided by the access token.', 403)
  }
  if (refusal !== undefined || found.user === undefined) {
    return invalidTokenReply(refusal === 'expired' || refusal === 'revoked' ? refusal : 'invalid')
  }
  return {
    status: 200,
    headers: { 'Cache-Control': 'no-store', Pragma: 'no-cache' },
    json: await identityClaims(core, 'userinfo', found.user, found.scopes),
  }
}
