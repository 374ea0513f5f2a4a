import { DomainError } from '../../base/kit/domain-error.ts'
import type { Core } from '../../base/operations/context.ts'
import { recordChange } from '../../base/operations/record-change.ts'
import { inTransaction, serviceContext } from '../../base/operations/transaction.ts'
import { userEvents } from '../users/user-events.ts'
import { insertUser } from '../users/user-store.ts'
import { insertAccessToken } from './access-token-store.ts'
import { newAccessTokenText } from './issue-token.ts'

/** The format of tokens that a header can carry unchanged. */
const chosenTokenFormat = /^[\x21-\x7e]{20,256}$/
const rootScopes = ['api', 'read_user', 'read_repository', 'write_repository', 'sudo', 'admin_mode'] as const

/**
 * Creates the first administrator, `root`, with a personal token that never expires, if there is no administrator yet.
 *
 * @param chosenToken the value of the token, which should be hard to guess; generated if it is missing
 * @returns the generated token, which cannot be shown again; `undefined` if it was chosen, or there was an administrator
 * @throws DomainError `refused` if `chosenToken` is not 20 to 256 printable characters without spaces
 */
export async function ensureRootToken(core: Core, chosenToken?: string): Promise<string | undefined> {
  if (chosenToken !== undefined && !chosenTokenFormat.test(chosenToken)) {
    throw new DomainError({
      code: 'refused',
      message: 'The token of the first administrator must be 20 to 256 printable characters without spaces',
    })
  }
  const value = chosenToken ?? (await newAccessTokenText(core))
  const isNew = await inTransaction(serviceContext(core), async (tx) => {
    const { db } = tx
    const administrator = await db
      .selectFrom('users')
      .select('id')
      .where('is_admin', '=', 1)
      .limit(1)
      .executeTakeFirst()
    if (administrator !== undefined) return false
    const isTaken = await db.selectFrom('routes').select('path').where('path', '=', 'root').executeTakeFirst()
    const username = isTaken === undefined ? 'root' : `root_${Buffer.from(core.randomBytes(4)).toString('hex')}`
    const host = new URL(core.settings.externalUrl).hostname
    const root = await insertUser(tx, {
      username,
      name: 'Administrator',
      email: `${username}@noreply.${host}`,
      isAdministrator: true,
    })
    const draft = { kind: 'personal', userId: root.id, name: 'root token', scopes: rootScopes, value } as const
    const token = await insertAccessToken(tx, { ...draft, expiresAt: undefined })
    await recordChange(tx, userEvents, 'created', { after: root })
    await tx.recordEvent({ type: 'access_token.created', objectId: token.id })
    return true
  })
  return isNew && chosenToken === undefined ? value : undefined
}
