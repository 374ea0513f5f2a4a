import { link, mkdir, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncToDisk } from '../git/git-files.ts'
import { SECRETS_KEY_BYTES } from './sealed-text.ts'

/**
 * Returns the key that encrypts stored secrets, from a file that only its owner may read. Creates the file on first use;
 * processes that start at the same time get the same key.
 *
 * @throws if the file has another format, or other users may read it
 */
export async function loadSecretsKey(file: string, randomBytes: (bytes: number) => Uint8Array): Promise<Uint8Array> {
  return (await readSecretsKey(file)) ?? (await createKey(file, randomBytes))
}

async function createKey(file: string, randomBytes: (bytes: number) => Uint8Array): Promise<Uint8Array> {
  const unfinished = `${file}.${Buffer.from(randomBytes(8)).toString('hex')}`
  await mkdir(dirname(file), { recursive: true })
  const handle = await open(unfinished, 'wx', 0o600)
  try {
    await handle.writeFile(`${Buffer.from(randomBytes(SECRETS_KEY_BYTES)).toString('hex')}\n`)
    await handle.sync()
    // `link` fails if the file exists by now; a rename would replace a key that another process already uses.
    await link(unfinished, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  } finally {
    await handle.close()
    await rm(unfinished, { force: true })
  }
  await syncToDisk(dirname(file))
  return (await readSecretsKey(file))!
}

/** Returns the key of a file, or `undefined` if there is no file. @throws if the file has another format, or other users may read it */
export async function readSecretsKey(file: string): Promise<Uint8Array | undefined> {
  const handle = await open(file, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    return undefined
  })
  if (handle === undefined) return undefined
  try {
    const { mode } = await handle.stat()
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new Error(`${file} holds the secrets key and others may read it; run: chmod 600 ${file}`)
    }
    const text = (await handle.readFile('utf8')).trim()
    if (!/^[0-9a-f]{64}$/.test(text)) throw new Error(`${file} should hold a secrets key of 64 hexadecimal digits`)
    return Buffer.from(text, 'hex')
  } finally {
    await handle.close()
  }
}
