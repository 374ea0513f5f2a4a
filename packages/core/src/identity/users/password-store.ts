import { argon2id, hash, verify } from 'argon2'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { User } from '../../base/model/user.ts'
import type { Core, Tx } from '../../base/operations/context.ts'
import { findUserByLogin } from './user-store.ts'

/**
 * The parameters that OWASP recommends for argon2id. At most four hashes are computed at a time: Node has four threads for
 * such work.
 */
const cost = { type: argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const
const SALT_BYTES = 16
/**
 * A hash that no password matches. Verifying it costs as much as verifying a real one, so that an unknown name takes as
 * long as a known one.
 */
const dummyHash = '$argon2id$v=19$m=19456,p=1,t=2$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'

/** Returns the hash of a password in PHC format. Takes tens of milliseconds, so never call it inside a transaction. */
export const hashPassword = ({ randomBytes }: Pick<Core, 'randomBytes'>, password: string): Promise<string> =>
  hash(password, { ...cost, salt: Buffer.from(randomBytes(SALT_BYTES)) })

export async function savePasswordHash({ db }: Pick<Tx, 'db'>, userId: number, passwordHash: string): Promise<void> {
  await db.updateTable('users').set({ password_hash: passwordHash }).where('id', '=', userId).execute()
}

/** A user with a verified password, and the hash that it matched. */
export interface VerifiedPassword {
  readonly user: User
  readonly passwordHash: string
}

/**
 * Returns the user with that username or e-mail address, in any letter case, if the password is right. Does not check
 * `state`, which says whether the user may sign in. Callers cannot distinguish an unknown name, a user without a password
 * and a wrong password, not even by the time that this takes.
 */
export async function verifyPassword(
  context: ReadContext,
  login: string,
  password: string,
): Promise<VerifiedPassword | undefined> {
  const user = await findUserByLogin(context, login)
  const row = await context.db
    .selectFrom('users')
    .select('password_hash')
    .where('id', '=', user?.id ?? 0)
    .executeTakeFirst()
  const passwordHash = row?.password_hash ?? undefined
  const isRight = await verify(passwordHash ?? dummyHash, password)
  return isRight && user !== undefined && passwordHash !== undefined ? { user, passwordHash } : undefined
}

/**
 * Returns whether the verified password is still that of the user, and whether the user is active. Call it in the
 * transaction that creates a session or token for the password: either may have changed during the verification, and
 * that change has revoked only what existed then.
 */
export async function isStillValid({ db }: Pick<Tx, 'db'>, { user, passwordHash }: VerifiedPassword): Promise<boolean> {
  const row = await db
    .selectFrom('users')
    .select(['password_hash', 'state'])
    .where('id', '=', user.id)
    .executeTakeFirst()
  return row?.password_hash === passwordHash && row.state === 'active'
}
