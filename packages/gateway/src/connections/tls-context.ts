import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { SecureContextOptions } from 'node:tls'
import { createSecureContext } from 'node:tls'
import type { TlsFiles } from '../contract/gateway-config.ts'

/** The content of the TLS files. */
interface TlsMaterial {
  readonly options: SecureContextOptions
  /** A hash of the content. */
  readonly digest: string
}

/**
 * Reads certificate and key. Returns `undefined` if their digest is `knownDigest`. Rejects if a file cannot be read, or
 * if certificate and key do not match, as happens while they are being replaced.
 *
 * It is called every second, and a digest costs far less than a TLS context.
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
