import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { SecureContextOptions } from 'node:tls'
import { createSecureContext } from 'node:tls'
import type { TlsFiles } from '../gateway-config.ts'

/** What the files hold now. */
export interface TlsMaterial {
  readonly options: SecureContextOptions
  /** Differs when the files do. */
  readonly digest: string
}

/**
 * Reads certificate and key; `undefined` when they are those of `knownDigest`. Rejects when a file cannot be read, or
 * when the two do not belong together, as happens between the two renames of a rotation.
 *
 * Asked every second, so that contexts, which cost far more than a digest, are built only of what is new.
 */
export async function readTlsFiles(
  { certFile, keyFile, clientCaFile }: TlsFiles,
  knownDigest: string | undefined,
): Promise<TlsMaterial | undefined> {
  const [cert, key, ca] = await Promise.all([
    readFile(certFile),
    readFile(keyFile),
    clientCaFile === undefined ? undefined : readFile(clientCaFile),
  ])
  const hash = createHash('sha256')
  for (const part of [cert, key, ca ?? Buffer.alloc(0)]) hash.update(`${part.length}:`).update(part)
  const digest = hash.digest('hex')
  if (digest === knownDigest) return undefined
  const options: SecureContextOptions = { cert, key, ...(ca !== undefined && { ca }) }
  createSecureContext(options)
  return { options, digest }
}
