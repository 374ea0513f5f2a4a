import { argon2id, hash, verify } from 'argon2'
import type { Core, ReadContext, Tx } from '../kit/context.ts'
import type { User } from './user.ts'
import { findUserByLogin } from './user-store.ts'

/** As OWASP advises for argon2id. At most four are computed at once: as many threads as Node has for such work. */
const cost = { type: argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const
const SALT_BYTES = 16
/** Of no password; of the same cost, so that an unknown name takes as long as a known one. */
const dummyHash = '$argon2id$v=19$m=19456,p=1,t=2$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'

/** In PHC form. Takes tens of milliseconds: never inside a transaction. */
export const hashPassword = ({ randomBytes }: Pick<Core, 'randomBytes'>, password: string): Promise<string> =>
  hash(password, { ...cost, salt: Buffer.from(randomBytes(SALT_BYTES)) })

export async function savePasswordHash({ db }: Pick<Tx, 'db'>, userId: number, passwordHash: string): Promise<void> {
  await db.updateTable('users').set({ password_hash: passwordHash }).where('id', '=', userId).execute()
}

/** Whose password it was when it was compared, and with what. */
export interface VerifiedPassword {
  readonly user: User
  readonly passwordHash: string
}

/**
 * The user of that username or e-mail, in any letter case, whose password it is. Whether they may sign in is not its
 * business: look at `state`. That nobody has that name, that they have no password and that it is wrong cannot be told
 * apart, not even by the time it takes.
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
 * Asked in the transaction in which something begins for a password: it may have been replaced, or its user blocked, while
 * it was compared, which has ended all that had begun by then.
 */
export async function isStillValid({ db }: Pick<Tx, 'db'>, { user, passwordHash }: VerifiedPassword): Promise<boolean> {
  const row = await db
    .selectFrom('users')
    .select(['password_hash', 'state'])
    .where('id', '=', user.id)
    .executeTakeFirst()
  return row?.password_hash === passwordHash && row.state === 'active'
}
