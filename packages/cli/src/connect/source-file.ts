import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type ForgeName, isObject } from '@penstock/forges'
import { signalNames } from '@penstock/otlp'
import { UsageError } from '../process/environment.ts'
import { isSystemError, systemReason } from '../process/system-error.ts'

/** A source with the secret that its webhooks have. */
export interface ConnectedSource {
  readonly secret: string
  /** Whether the source was added to the file. */
  readonly isNew: boolean
}

/**
 * Returns the secret of a source in a file of sources. A source that is missing is added, with a secret of 32 random bytes, so that a second
 * run finds it.
 *
 * @throws {UsageError} if the file cannot be used, or contains another source of that name
 */
export function connectSource(file: string, name: string, forge: ForgeName): ConnectedSource {
  const sources = readSources(file)
  const known = Object.hasOwn(sources, name) ? sources[name] : undefined
  if (known !== undefined) return { secret: secretOf(file, name, known, forge), isNew: false }
  const random = randomBytes(32).toString('hex')
  // Azure sends a user name and a password.
  const secret = forge === 'azure' ? `penstock:${random}` : random
  const added = { ...sources, [name]: { forge, secretToken: secret, signals: signalNames } }
  writePrivately(file, `${JSON.stringify(added, undefined, 2)}\n`)
  return { secret, isNew: true }
}

function readSources(file: string): Readonly<Record<string, unknown>> {
  if (!existsSync(file)) return {}
  const sources = parsed(file, read(file))
  if (isObject(sources)) return sources
  throw new UsageError(`${file} must contain an object with one entry per source`)
}

function secretOf(file: string, name: string, source: unknown, forge: ForgeName): string {
  const { forge: ownForge = 'gitlab', secretToken } = isObject(source) ? source : {}
  if (ownForge !== forge) {
    throw new UsageError(`the source ${name} in ${file} is of another forge; choose another name with --source`)
  }
  const first: unknown = Array.isArray(secretToken) ? secretToken[0] : secretToken
  if (typeof first === 'string' && first !== '') return first
  throw new UsageError(
    `the source ${name} in ${file} has no secretToken; add one, or choose another name with --source`,
  )
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (!isSystemError(error)) throw error
    throw new UsageError(`cannot read ${file}: ${systemReason(error)}`)
  }
}

/** The contents are not quoted, because they are secrets. */
function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw new UsageError(`${file} is not valid JSON`)
    throw error
  }
}

/** Replaces a file with one that only its owner can read. */
function writePrivately(file: string, text: string): void {
  const draft = `${file}.new`
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(draft, text, { mode: 0o600 })
    chmodSync(draft, 0o600)
    renameSync(draft, file)
  } catch (error) {
    if (!isSystemError(error)) throw error
    throw new UsageError(`cannot write ${file}: ${systemReason(error)}`)
  }
}
