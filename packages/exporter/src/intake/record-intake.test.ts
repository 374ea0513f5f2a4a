import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeRecordIntake } from './record-intake.case.ts'

describeRecordIntake('record intake on SQLite', async () => {
  const home = mkdtempSync(join(tmpdir(), 'penstock-intake-'))
  return { location: join(home, 'core.db'), remove: async () => rmSync(home, { recursive: true }) }
})
