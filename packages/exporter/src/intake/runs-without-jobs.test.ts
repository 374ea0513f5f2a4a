import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeRunsWithoutJobs } from './runs-without-jobs.case.ts'

describeRunsWithoutJobs('runs without jobs on SQLite', async () => {
  const home = mkdtempSync(join(tmpdir(), 'penstock-exporter-'))
  return { location: join(home, 'core.db'), remove: async () => rmSync(home, { recursive: true }) }
})
