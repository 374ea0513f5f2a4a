import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose'
import type { Generated, Selectable } from 'kysely'
import { DAY_MS } from '../../base/kit/day.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { type Core, readContextOf, type Tx } from '../../base/operations/context.ts'
import { newNonce, sealText, unsealText } from '../../base/secrets/sealed-text.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    oauth_signing_keys: SigningKeysTable
  }
}

interface SigningKeysTable {
  id: Generated<number>
  kid: string
  /** JSON of the key that everyone may read. */
  public_jwk: string
  /** JSON of the private key, encrypted with AES-256-GCM and bound to `kid`. */
  sealed_private_jwk: string
  created_at_ms: number
  retired_at_ms: number | null
}

export const SIGNING_ALGORITHM = 'RS256'
const MODULUS_BITS = 2_048
/**
 * How long a retired key is published. This is longer than the lifetime of the tokens that it has signed, and longer
 * than clients cache keys.
 */
const PUBLISHED_AFTER_MS = DAY_MS

/** A key that signs ID tokens. */
interface SigningKey {
  readonly kid: string
  readonly privateJwk: JWK
}

/** Returns the place to which the encryption of the private key is bound. */
export const signingKeyPlace = (kid: string): string[] => ['oauth_signing_keys', kid]

/**
 * Returns the key that signs, and creates it if there is none.
 *
 * @throws UnsealError if the signing key was encrypted with another secrets key; `rotateSigningKey` replaces it
 */
export async function currentSigningKey(core: Core): Promise<SigningKey> {
  const { kid, sealed_private_jwk } = (await findCurrent({ db: core.db.read })) ?? (await createFirst(core))
  return {
    kid,
    privateJwk: JSON.parse(unsealText(core.settings.secretsKey, signingKeyPlace(kid), sealed_private_jwk)) as JWK,
  }
}

/**
 * Returns the public keys, newest first: the current one and those that were retired a short time ago. Creates the first key,
 * because clients cache an empty set and then reject the first tokens.
 */
export async function publishedKeys(core: Core): Promise<JWK[]> {
  const keys = await findPublished(readContextOf(core))
  if (keys.length > 0) return keys
  await createFirst(core)
  return findPublished(readContextOf(core))
}

async function findPublished({ db, nowMs }: ReadContext): Promise<JWK[]> {
  const rows = await db
    .selectFrom('oauth_signing_keys')
    .select('public_jwk')
    .where((eb) => eb.or([eb('retired_at_ms', 'is', null), eb('retired_at_ms', '>', nowMs - PUBLISHED_AFTER_MS)]))
    .orderBy('id', 'desc')
    .execute()
  return rows.map((row) => JSON.parse(row.public_jwk) as JWK)
}

/** Replaces the key that signs. The former one is published for another day. Returns the id of the new key. */
export async function rotateSigningKey(core: Core): Promise<string> {
  const key = await newKey(core)
  await core.db.write(async (db) => {
    const tx = { db, nowMs: core.clock.nowMs() }
    await db
      .updateTable('oauth_signing_keys')
      .set({ retired_at_ms: tx.nowMs })
      .where('retired_at_ms', 'is', null)
      .execute()
    await insert(tx, key)
    await deleteRetiredSigningKeys(tx)
  })
  return key.kid
}

export async function deleteRetiredSigningKeys({ db, nowMs }: Pick<Tx, 'db' | 'nowMs'>): Promise<void> {
  await db
    .deleteFrom('oauth_signing_keys')
    .where('retired_at_ms', '<=', nowMs - PUBLISHED_AFTER_MS)
    .execute()
}

type Row = Selectable<SigningKeysTable>

const findCurrent = ({ db }: Pick<ReadContext, 'db'>): Promise<Row | undefined> =>
  db
    .selectFrom('oauth_signing_keys')
    .selectAll()
    .where('retired_at_ms', 'is', null)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()

/** The keys that are being created. A key takes a second of processor time, and callers without a credential can ask for it. */
const inCreation = new WeakMap<Core, Promise<Row>>()

/** Two processes may create a key at the same time. The one that writes second uses the key of the first. */
function createFirst(core: Core): Promise<Row> {
  const creation = inCreation.get(core) ?? createKey(core).finally(() => inCreation.delete(core))
  inCreation.set(core, creation)
  return creation
}

async function createKey(core: Core): Promise<Row> {
  const key = await newKey(core)
  return core.db.write(async (db) => {
    const found = await findCurrent({ db })
    return found ?? insert({ db, nowMs: core.clock.nowMs() }, key)
  })
}

type NewKey = Pick<Row, 'kid' | 'public_jwk' | 'sealed_private_jwk'>

const insert = ({ db, nowMs }: Pick<Tx, 'db' | 'nowMs'>, key: NewKey): Promise<Row> =>
  db
    .insertInto('oauth_signing_keys')
    .values({ ...key, created_at_ms: nowMs, retired_at_ms: null })
    .returningAll()
    .executeTakeFirstOrThrow()

async function newKey({ settings, randomBytes }: Core): Promise<NewKey> {
  const { publicKey, privateKey } = await generateKeyPair(SIGNING_ALGORITHM, {
    modulusLength: MODULUS_BITS,
    extractable: true,
  })
  const publicJwk = await exportJWK(publicKey)
  const kid = await calculateJwkThumbprint(publicJwk)
  const text = JSON.stringify(await exportJWK(privateKey))
  return {
    kid,
    public_jwk: JSON.stringify({ ...publicJwk, kid, use: 'sig', alg: SIGNING_ALGORITHM }),
    sealed_private_jwk: sealText(settings.secretsKey, newNonce(randomBytes), signingKeyPlace(kid), text),
  }
}
