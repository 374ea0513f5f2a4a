import { admit, type Core, findOAuthToken, type User } from '@penstock/core'
import { type Reply, type RouteRequest, type ServedRoute, unguarded } from '@penstock/http'
import { z } from 'zod'
import { oauthTokenIn } from './bearer-token.ts'
import { invalidTokenReply, refusalReply } from './oauth-refusal.ts'
import { SMALL_FORM_LIMITS } from './session-cookie.ts'
import { fieldsOf } from './sign-in.ts'

const PATH = '/oauth/userinfo'

/** Returns the routes of the OpenID Connect UserInfo endpoint. @see OpenID Connect Core 1.0, section 5.3 */
export function userinfoRoutes(core: Core): ServedRoute[] {
  const handle = (request: RouteRequest) => userInfo(core, request)
  return unguarded([
    { method: 'GET', path: PATH, access: undefined, handle },
    { method: 'POST', path: PATH, access: undefined, body: z.unknown(), forms: SMALL_FORM_LIMITS, handle },
  ])
}

interface Subject {
  readonly user: User
  readonly scopes: readonly string[]
  readonly externalUrl: string
}

/** The claims, each with a list of scopes, one of which is required. A claim is left out if the user has no value for it. */
const claims: readonly { readonly name: string; readonly scopes: readonly string[]; of(subject: Subject): unknown }[] =
  [
    { name: 'sub', scopes: ['openid', 'email'], of: ({ user }) => String(user.id) },
    { name: 'name', scopes: ['openid'], of: ({ user }) => user.name },
    { name: 'nickname', scopes: ['openid'], of: ({ user }) => user.username },
    { name: 'preferred_username', scopes: ['openid'], of: ({ user }) => user.username },
    { name: 'email', scopes: ['openid', 'email'], of: (subject) => emailOf(subject) },
    // Addresses are always verified, because only administrators set them.
    {
      name: 'email_verified',
      scopes: ['openid', 'email'],
      of: (subject) => (emailOf(subject) === undefined ? undefined : true),
    },
    { name: 'profile', scopes: ['openid'], of: ({ user, externalUrl }) => `${externalUrl}/${user.username}` },
  ]

const emailOf = ({ user, scopes }: Subject): string | undefined =>
  scopes.includes('email') ? user.email : user.publicEmail

async function userInfo(core: Core, request: RouteRequest): Promise<Reply> {
  const presented = oauthTokenIn(request.raw.headers.authorization, { ...request.query, ...fieldsOf(request.body) })
  const found = presented === undefined ? undefined : await findOAuthToken(core, presented)
  if (found === undefined) return invalidTokenReply('invalid')
  const refusal = await admit(core, found, ['openid', 'email'])
  if (refusal === 'insufficient_scope') {
    return refusalReply(refusal, 'The request requires higher privileges than provided by the access token.', 403)
  }
  if (refusal !== undefined || found.user === undefined) {
    return invalidTokenReply(refusal === 'expired' || refusal === 'revoked' ? refusal : 'invalid')
  }
  const subject = { user: found.user, scopes: found.scopes, externalUrl: core.settings.externalUrl }
  const granted = claims.filter(({ scopes }) => scopes.some((scope) => found.scopes.includes(scope)))
  return {
    status: 200,
    headers: { 'Cache-Control': 'no-store', Pragma: 'no-cache' },
    json: Object.fromEntries(granted.map(({ name, of }) => [name, of(subject)])),
  }
}
