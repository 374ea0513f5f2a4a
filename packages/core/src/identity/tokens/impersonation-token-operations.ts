import { z } from 'zod'
import { forbidden, notFound } from '../../base/kit/domain-error.ts'
import { pageInput } from '../../base/kit/page.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { User } from '../../base/model/user.ts'
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
import { issueToken, revoke } from './issue-token.ts'
import { tokenScopes } from './scope.ts'

const { state } = tokenFilters
const ofUser = z.object({ userId: z.int() })
const oneOfUser = ofUser.extend({ impersonationTokenId: z.int() })

export const listImpersonationTokens = unscopedQuery(
  {
    name: 'listImpersonationTokens',
    caller: 'administrator',
    input: ofUser.extend({ state, ...pageInput }),
  },
  async (context, { userId, page, perPage, ...filter }) => {
    await getUser(context, userId)
    return pageOfAccessTokens(context, { kinds: ['impersonation'], userId }, filter, { page, perPage })
  },
)

export const getImpersonationToken = unscopedQuery(
  { name: 'getImpersonationToken', caller: 'administrator', input: oneOfUser },
  (context, input) => getToken(context, input),
)

export const createImpersonationToken = unscopedCommand(
  {
    name: 'createImpersonationToken',
    caller: 'administrator',
    input: ofUser.extend({
      name: tokenName,
      description: tokenDescription,
      scopes: scopesFrom(tokenScopes),
      expiresAt: tokenExpiry,
    }),
  },
  async (tx, { userId, expiresAt, ...fields }) => {
    if (!tx.core.settings.impersonationEnabled) throw forbidden()
    validateScopes(await getUser(tx, userId), fields.scopes)
    return issueToken(tx, { ...fields, kind: 'impersonation', userId, expiresAt })
  },
)

export const revokeImpersonationToken = unscopedCommand(
  { name: 'revokeImpersonationToken', caller: 'administrator', input: oneOfUser },
  async (tx, input) => revoke(tx, await getToken(tx, input)),
)

async function getUser(context: ReadContext, id: number): Promise<User> {
  const user = await findUser(context, id)
  if (user === undefined) throw notFound('User')
  return user
}

async function getToken(
  context: ReadContext,
  { userId, impersonationTokenId }: z.output<typeof oneOfUser>,
): Promise<AccessToken> {
  await getUser(context, userId)
  const token = await findAccessToken(context, impersonationTokenId)
  if (token?.kind !== 'impersonation' || token.userId !== userId) throw notFound('Impersonation Token')
  return token
}
