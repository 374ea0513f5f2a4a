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
 * Reads certificate and key. Rejects when a file cannot be read, or when the two do not belong together, as happens
 * between the two renames of a rotation.
 */
export async function readTlsFiles({ certFile, keyFile, clientCaFile }: TlsFiles): Promise<TlsMaterial> {
  const [cert, key, ca] = await Promise.all([
    readFile(certFile),
    readFile(keyFile),
    clientCaFile === undefined ? undefined : readFile(clientCaFile),
  ])
  const options: SecureContextOptions = { cert, key, ...(ca !== undefined && { ca }) }
  createSecureContext(options)
  const hash = createHash('sha256')
  for (const part of [cert, key, ca ?? Buffer.alloc(0)]) hash.update(`${part.length}:`).update(part)
  return { options, digest: hash.digest('hex') }
}
