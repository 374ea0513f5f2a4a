import { createHash } from 'node:crypto'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Outcome } from '@penstock/delivery'
import { type Message, type Sender, toMail } from './message.ts'
import type { MailTransport } from './transport.ts'

const MAX_FILES = 1_000

/**
 * Writes mails to a directory, each as an `.eml` file that mail programs open. Only the newest 1,000 files are kept, and only
 * their owner can read them.
 */
export function fileTransport(directory: string, { sender }: { readonly sender: Sender }): MailTransport {
  const createBuilder = async () => {
    // Loaded with the first mail, because most starts send none.
    const { createTransport } = await import('nodemailer')
    return createTransport({ streamTransport: true, buffer: true, newline: 'windows' })
  }
  let builder: ReturnType<typeof createBuilder> | undefined
  return {
    async send(message: Message): Promise<Outcome> {
      const name = fileNameOf(message)
      builder ??= createBuilder()
      const mailer = await builder
      try {
        const { message: bytes } = await mailer.sendMail(toMail(message, sender))
        await mkdir(directory, { recursive: true, mode: 0o700 })
        const unfinished = join(directory, `${name}.tmp`)
        // An earlier process may have left the file. A link with its name is removed too, and not followed.
        await rm(unfinished, { force: true })
        await writeFile(unfinished, bytes as Buffer, { mode: 0o600, flag: 'wx' })
        await rename(unfinished, join(directory, name))
        await deleteOldest(directory)
        return { kind: 'delivered', rejectedItems: 0, message: `written to ${name}` }
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        return { kind: 'retry', retryAfterMs: 0, reason: `the mail cannot be written: ${code ?? 'unknown error'}` }
      }
    },
    async close() {},
  }
}

/** The names sort by time. A second attempt has the name of the first one. */
function fileNameOf({ key, atMs }: Message): string {
  const time = new Date(atMs).toISOString().replaceAll(/[-:]/g, '')
  return `${time}-${createHash('sha256').update(key).digest('hex').slice(0, 16)}.eml`
}

/** Unfinished files, which a process leaves if it ends while it writes them, count too. */
async function deleteOldest(directory: string): Promise<void> {
  const names = (await readdir(directory)).filter((name) => /\.eml(?:\.tmp)?$/.test(name))
  if (names.length <= MAX_FILES) return
  const oldest = names.toSorted().slice(0, names.length - MAX_FILES)
  await Promise.all(oldest.map((name) => rm(join(directory, name), { force: true })))
}
