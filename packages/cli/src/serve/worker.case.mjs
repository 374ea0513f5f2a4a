// What workers.test.ts starts in place of a worker: it listens, unless the file CANNOT_START exists, and answers nothing.
import { existsSync } from 'node:fs'
import process from 'node:process'

// Keeps it alive, whatever becomes of the channel.
setInterval(() => {}, 60_000)
const reason = 'the store cannot be read'
process.send(existsSync(process.env.CANNOT_START) ? { penstock: 'failed', reason } : { penstock: 'listening' })
