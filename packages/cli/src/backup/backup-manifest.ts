import { existsSync, readFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageError } from '../process/environment.ts'

/** The file of a backup that is written last, so that its presence means that the backup is complete. */
const MANIFEST_FILE = 'backup.json'

export const FORMAT = 1

/** The contents of a backup. */
export interface BackupManifest {
  readonly format: typeof FORMAT
  /** The version of the program. */
  readonly version: string
  readonly createdAt: string
  /** Where each part was: `file` means that the backup contains the database. Missing if the data directory had no such part. */
  readonly core?: 'file' | 'postgresql'
  readonly gateway?: 'file' | 'postgresql'
  /** The other files of the data directory that the backup contains. */
  readonly files: readonly string[]
  readonly repositories: number
}

/** @throws {UsageError} if the directory is no complete backup */
export function readManifest(directory: string): BackupManifest {
  const file = join(directory, MANIFEST_FILE)
  if (!existsSync(file)) throw new UsageError(`${directory} is no complete backup: it has no ${MANIFEST_FILE}`)
  const content = parsed(readFileSync(file, 'utf8'))
  if (content?.format !== FORMAT) throw new UsageError(`${file} is damaged, or of a newer version`)
  return content
}

function parsed(text: string): BackupManifest | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export async function writeManifest(directory: string, content: BackupManifest): Promise<void> {
  const handle = await open(join(directory, MANIFEST_FILE), 'wx', 0o600)
  try {
    await handle.writeFile(`${JSON.stringify(content, undefined, 2)}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
}
