import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeRunFetcher } from './run-fetcher.case.ts'

describeRunFetcher('runs that are read from their forge on SQLite', async () => {
  const home = mkdtempSync(join(tmpdir(), 'penstock-exporter-'))
  return { location: join(home, 'core.db'), remove: async () => rmSync(home, { recursive: true }) }
})
