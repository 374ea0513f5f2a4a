// The process that workers.test.ts starts instead of a worker. It listens unless the file CANNOT_START exists, and answers nothing.
import { existsSync } from 'node:fs'
import process from 'node:process'

// Keeps the process alive after the channel closes.
setInterval(() => {}, 60_000)
const reason = 'the store cannot be read'
process.send(existsSync(process.env.CANNOT_START) ? { penstock: 'failed', reason } : { penstock: 'listening' })
