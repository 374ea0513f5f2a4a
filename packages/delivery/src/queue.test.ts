import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeQueue } from './queue.case.ts'

describeQueue('queue on SQLite', async () => {
  const home = mkdtempSync(join(tmpdir(), 'penstock-queue-'))
  return { location: join(home, 'queue.db'), remove: async () => rmSync(home, { recursive: true }) }
})
