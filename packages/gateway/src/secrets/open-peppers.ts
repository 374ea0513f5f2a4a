import { createHmac } from 'node:crypto'
import { existsSync } from 'node:fs'
import { link, mkdir, open, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import argon2 from 'argon2'
import type { Kysely } from 'kysely'
import { ConfigError } from '../contract/config-error.ts'
import type { GatewayDb, GatewayTables } from '../store/tables.ts'
import type { Peppers } from './pepper.ts'
import { type RandomBytes, randomBase62 } from './token-format.ts'

interface PepperSettings {
  /** The peppers as `id:base64`, 32 bytes each, newest first. They take precedence over the passphrase. */
  readonly configured?: readonly string[] | undefined
  /** A passphrase of at least 12 characters, from which a key is derived at every start. */
  readonly passphrase?: string | undefined
  /**
   * The directory of the pepper file and of the passphrase's salt. The pepper file is written if neither peppers nor a
   * passphrase are configured.
   */
  readonly dataDir: string
  readonly randomBytes: RandomBytes
}

/** An error about peppers. Its message is one line for the operator and contains no part of a key. */
export class PepperError extends ConfigError {
  override readonly name = 'PepperError'
}

/** The names of the files in the data directory. */
const PEPPER_FILE = 'pepper'
const SALT_FILE = 'pepper-salt'
const PEPPER_BYTES = 32
const SALT_BYTES = 16
const MIN_PASSPHRASE_LENGTH = 12
const FINGERPRINT_LENGTH = 8
const MAX_PEPPERS = 16

/** The parameters of Argon2. Deriving the key takes 64 MiB and about 0.2 s, once per start. */
const argon2Options = {
  type: argon2.argon2id,
  memoryCost: 65_536,
  timeCost: 3,
  parallelism: 1,
  hashLength: PEPPER_BYTES,
} as const

/**
 * Returns the peppers (T-6): the configured ones, or else one derived from the passphrase, or else those in the file
 * `pepper` of the data directory, which the first start writes.
 *
 * Throws {@link PepperError} if a setting is unusable, or if the store contains tokens or API keys made with a pepper that
 * is missing. In that case nothing is written.
 */
export async function openPeppers(db: GatewayDb, settings: PepperSettings): Promise<Peppers> {
  const isInUse = (await pepperIdsInUse(db.read)).length > 0
  const peppers = toPeppers(await configuredKeys(settings, !isInUse))
  await requirePeppers(db.read, peppers)
  return peppers
}

/** Returns the name of the file of peppers or of their salt in the data directory, if there is one. */
export const findPepperFile = (dataDir: string): string | undefined =>
  [PEPPER_FILE, SALT_FILE].find((name) => existsSync(join(dataDir, name)))

/** @throws PepperError if the store contains tokens or API keys made with a pepper that is missing */
export async function requirePeppers(db: Kysely<GatewayTables>, peppers: Peppers): Promise<void> {
  const missing = (await pepperIdsInUse(db)).filter((id) => !peppers.byId.has(id))
  if (missing.length > 0) throw new PepperError(missingPepperMessage(missing))
}

interface NamedKey {
  readonly name: string
  readonly key: Uint8Array
}

async function configuredKeys(settings: PepperSettings, mayCreate: boolean): Promise<readonly NamedKey[]> {
  if (settings.configured !== undefined && settings.configured.length > 0) return settings.configured.map(parseNamedKey)
  await mkdir(settings.dataDir, { recursive: true })
  if (settings.passphrase !== undefined) return [await deriveFromPassphrase(settings.passphrase, settings, mayCreate)]
  const text = await readOrCreate(
    join(settings.dataDir, PEPPER_FILE),
    { mayCreate, randomBytes: settings.randomBytes },
    () => {
      const name = randomBase62(8, settings.randomBytes)
      return `${name}:${Buffer.from(settings.randomBytes(PEPPER_BYTES)).toString('base64')}\n`
    },
  )
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(parseNamedKey)
}

async function deriveFromPassphrase(
  passphrase: string,
  { dataDir, randomBytes }: PepperSettings,
  mayCreate: boolean,
): Promise<NamedKey> {
  if (passphrase.length < MIN_PASSPHRASE_LENGTH) {
    throw new PepperError(`The pepper's passphrase must have at least ${MIN_PASSPHRASE_LENGTH} characters`)
  }
  const text = await readOrCreate(
    join(dataDir, SALT_FILE),
    { mayCreate, randomBytes },
    () => `${Buffer.from(randomBytes(SALT_BYTES)).toString('base64')}\n`,
  )
  const salt = Buffer.from(text, 'base64')
  if (salt.length !== SALT_BYTES) throw new PepperError(`${join(dataDir, SALT_FILE)} does not hold ${SALT_BYTES} bytes`)
  return { name: 'passphrase', key: await argon2.hash(passphrase, { ...argon2Options, salt, raw: true }) }
}

function parseNamedKey(text: string): NamedKey {
  const match = /^\s*([0-9A-Za-z._-]{1,32}):([0-9A-Za-z+/]{43}=?)\s*$/.exec(text)
  if (match === null)
    throw new PepperError('A pepper must be given as id:base64, with an id of 1 to 32 letters and 32 bytes')
  return { name: match[1]!, key: Buffer.from(match[2]!, 'base64') }
}

/** Adds a part of the key's hash to the id, so that a replaced key with the same name is not taken for the old one. */
function toPeppers(keys: readonly NamedKey[]): Peppers {
  if (keys.length > MAX_PEPPERS) throw new PepperError(`There may be at most ${MAX_PEPPERS} peppers`)
  const byId = new Map<string, Uint8Array>()
  for (const { name, key } of keys) {
    const fingerprint = createHmac('sha256', key)
      .update('penstock pepper id')
      .digest('hex')
      .slice(0, FINGERPRINT_LENGTH)
    byId.set(`${name}-${fingerprint}`, key)
  }
  const newestId = byId.keys().next().value
  if (newestId === undefined) throw new PepperError('The pepper file is empty')
  return { newestId, byId }
}

async function pepperIdsInUse(db: Kysely<GatewayTables>): Promise<readonly string[]> {
  const tokenPeppers = db.selectFrom('ingest_tokens').select('pepper_id').where('revoked_at_ms', 'is', null)
  const rows = await tokenPeppers.union(db.selectFrom('api_keys').select('pepper_id')).execute()
  return rows.map((row) => row.pepper_id)
}

const missingPepperMessage = (ids: readonly string[]): string =>
  `The store contains tokens or API keys made with pepper ${ids.join(', ')}, which is not configured: restore the pepper` +
  ' file in the data directory, or configure that pepper or passphrase again'

/** Reads the file, or creates it atomically, readable by its owner only. Concurrent creators all get the same text. */
async function readOrCreate(
  file: string,
  { mayCreate, randomBytes }: { mayCreate: boolean; randomBytes: RandomBytes },
  make: () => string,
): Promise<string> {
  const existing = await readIfExists(file)
  if (existing !== undefined) return existing
  if (!mayCreate) {
    throw new PepperError(
      `The store contains tokens or API keys, but the file of their pepper, ${file}, is missing: restore it from a backup`,
    )
  }
  const draft = `${file}.${randomBase62(12, randomBytes)}`
  await writeDurably(draft, make())
  try {
    await link(draft, file)
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  } finally {
    await unlink(draft)
  }
  return await readFile(file, 'utf8')
}

async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function readIfExists(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code
