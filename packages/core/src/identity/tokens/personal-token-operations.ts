import { z } from 'zod'
import { DomainError, forbidden, notFound } from '../../base/kit/domain-error.ts'
import { pageInput } from '../../base/kit/page.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Actor, User } from '../../base/model/user.ts'
import { unscopedCommand, unscopedQuery } from '../../base/operations/operation.ts'
import { findUser } from '../users/user-store.ts'
import {
  type AccessToken,
  scopesFrom,
  tokenDescription,
  tokenExpiry,
  tokenFilters,
  tokenName,
  validateScopes,
} from './access-token.ts'
import { findAccessToken, pageOfAccessTokens } from './access-token-store.ts'
import { issueToken, revoke, rotate } from './issue-token.ts'
import { tokenScopes } from './scope.ts'

const personalTokenFields = {
  name: tokenName,
  description: tokenDescription,
  scopes: scopesFrom(tokenScopes),
  expiresAt: tokenExpiry,
}

/** Creates a token for any user. Only administrators may; other users create their tokens on the account page. */
export const createPersonalToken = unscopedCommand(
  {
    name: 'createPersonalToken',
    caller: 'administrator',
    input: z.object({ userId: z.int(), ...personalTokenFields }),
  },
  async (tx, { userId, ...fields }) => {
    const user = await findUser(tx, userId)
    if (user === undefined) throw notFound('User')
    return issuePersonalToken(tx, user, fields)
  },
)

/**
 * Creates a token for the caller, who must have a session. Only the account page offers it: a token, of whatever kind, must not
 * create a token with scopes that it does not have itself.
 */
export const createOwnPersonalToken = unscopedCommand(
  { name: 'createOwnPersonalToken', input: z.object(personalTokenFields) },
  async (tx, fields) => {
    const user = await findUser(tx, tx.actor!.id)
    if (user === undefined || tx.actor!.isSession !== true) throw forbidden()
    return issuePersonalToken(tx, user, fields)
  },
)

type PersonalTokenFields = z.output<z.ZodObject<typeof personalTokenFields>>

function issuePersonalToken(
  tx: Parameters<typeof issueToken>[0],
  user: User,
  { expiresAt, ...fields }: PersonalTokenFields,
) {
  validateScopes(user, fields.scopes)
  return issueToken(tx, { ...fields, kind: 'personal', userId: user.id, expiresAt })
}

/**
 * Lists tokens, except impersonation tokens. Administrators see those of all users, including bots; other users see their
 * own.
 */
export const listPersonalTokens = unscopedQuery(
  { name: 'listPersonalTokens', input: z.object({ userId: z.int().nullish(), ...tokenFilters, ...pageInput }) },
  async (context, { userId, page, perPage, ...filter }) => {
    const { id, isAdministrator } = context.actor!
    if (!isAdministrator && typeof userId === 'number' && userId !== id)
      throw new DomainError({ code: 'unauthenticated' })
    const of = {
      kinds: ['personal', 'project', 'group'],
      userId: isAdministrator ? (userId ?? undefined) : id,
    } as const
    return pageOfAccessTokens(context, of, filter, { page, perPage })
  },
)

const byId = z.object({ id: z.int() })

export const getPersonalToken = unscopedQuery({ name: 'getPersonalToken', input: byId }, (context, { id }) =>
  getPermittedToken(context, id),
)

export const revokePersonalToken = unscopedCommand({ name: 'revokePersonalToken', input: byId }, async (tx, { id }) =>
  revoke(tx, await getPermittedToken(tx, id)),
)

export const rotatePersonalToken = unscopedCommand(
  { name: 'rotatePersonalToken', input: byId.extend({ expiresAt: tokenExpiry }) },
  async (tx, { id, expiresAt }) => rotate(tx, await getPermittedToken(tx, id), expiresAt),
)

/** Returns the token of the request. */
export const getOwnToken = unscopedQuery({ name: 'getOwnToken', input: z.object({}) }, (context) =>
  getPresentedToken(context),
)

export const revokeOwnToken = unscopedCommand({ name: 'revokeOwnToken', input: z.object({}) }, async (tx) =>
  revoke(tx, await getPresentedToken(tx)),
)

export const rotateOwnToken = unscopedCommand(
  { name: 'rotateOwnToken', input: z.object({ expiresAt: tokenExpiry }) },
  async (tx, { expiresAt }) => rotate(tx, await getPresentedToken(tx), expiresAt),
)

/**
 * Returns a token of the actor, or any token for an administrator. Only administrators get `not_found`: for other users, an
 * unknown token looks like the token of another user.
 */
async function getPermittedToken(context: ReadContext & { readonly actor: Actor }, id: number): Promise<AccessToken> {
  const { id: actorId, isAdministrator } = context.actor!
  const token = await findAccessToken(context, id)
  if (isAdministrator) {
    if (token === undefined) throw notFound()
    return token
  }
  const isOwn = token?.userId === actorId && token.kind !== 'impersonation'
  if (!isOwn) throw new DomainError({ code: 'unauthenticated' })
  return token
}

export async function getPresentedToken(context: ReadContext & { readonly actor: Actor }): Promise<AccessToken> {
  const id = context.actor?.accessTokenId
  const token = id === undefined ? undefined : await findAccessToken(context, id)
  if (token !== undefined) return token
  throw new DomainError({
    code: 'refused',
    message: 'This endpoint requires token type to be a personal access token',
  })
}
