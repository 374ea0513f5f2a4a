import { open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { ConfigError } from '../contract/config-error.ts'
import { type RandomBytes, randomBase62 } from '../secrets/token-format.ts'

export const PLANE_FILE = 'plane.json'

const planeRecord = z.object({
  /** The id in the store. */
  id: z.string().min(1).max(64),
  /** The mode of enforcement that the gateways of the data directory applied last. */
  mode: z.enum(['off', 'report', 'warn', 'enforce']),
  /** The epoch at which the mode was recorded. A store with a lower one is older than that. */
  epoch: z.int().min(1),
})

/** The plane that a data directory was used with, so that a lost store is noticed. */
export type PlaneRecord = Readonly<z.output<typeof planeRecord>>

/** Returns `undefined` if the data directory has no such file. @throws ConfigError if the file is damaged */
export async function readPlaneFile(dataDir: string): Promise<PlaneRecord | undefined> {
  const file = join(dataDir, PLANE_FILE)
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    return undefined
  })
  return text === undefined ? undefined : parsePlaneRecord(text, file)
}

function parsePlaneRecord(text: string, file: string): PlaneRecord {
  try {
    return planeRecord.parse(JSON.parse(text))
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof z.ZodError)) throw error
    throw new ConfigError(
      `${file} is damaged: remove it if the gateway store is the right one; the next start writes it`,
    )
  }
}

/** Replaces the file durably. A reader sees the old file or the new one. */
export async function writePlaneFile(dataDir: string, record: PlaneRecord, randomBytes: RandomBytes): Promise<void> {
  const file = join(dataDir, PLANE_FILE)
  const draft = `${file}.${randomBase62(12, randomBytes)}`
  try {
    const handle = await open(draft, 'wx', 0o600)
    try {
      await handle.writeFile(`${JSON.stringify(record)}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(draft, file)
    await syncDirectory(dataDir)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** Makes the new name of a file durable. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
