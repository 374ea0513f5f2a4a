import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeExporter } from './exporter.case.ts'

describeExporter('exporter on SQLite', async () => {
  const home = mkdtempSync(join(tmpdir(), 'penstock-exporter-'))
  return { location: join(home, 'core.db'), remove: async () => rmSync(home, { recursive: true }) }
})
