import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { temporarySchema } from '@penstock/testkit'
import { expect, onTestFinished, test, vi } from 'vitest'
import { CoreProcess } from '../core/core-process.ts'
import { describeWithPostgres } from './describe-with-postgres.ts'

const AHEAD_MS = 3 * 3_600_000
const preload = pathToFileURL(join(import.meta.dirname, '../browser/fixed-start.mjs')).href

describeWithPostgres('the clock of the database', (serverUrl) => {
  test('a core on a host that is three hours ahead stores the time of the database, and logs the difference', async () => {
    const schema = await temporarySchema(serverUrl())
    const dataDir = mkdtempSync(join(tmpdir(), 'penstock-clock-'))
    onTestFinished(async () => {
      await schema.remove()
      rmSync(dataDir, { recursive: true, force: true })
    })
    const nowMs = Date.now()
    await using core = await CoreProcess.start(dataDir, {
      databaseUrl: schema.location,
      env: {
        NODE_OPTIONS: `--import ${preload}`,
        START_TIME: new Date(nowMs + AHEAD_MS).toISOString(),
        START_TIME_SET_AT: String(nowMs),
      },
    })
    const { created_at } = await core.must('POST', '/projects', { name: 'tools', path: 'tools' })
    const createdMs = Date.parse(created_at)
    expect(createdMs).toBeGreaterThanOrEqual(nowMs - 1_000)
    expect(createdMs).toBeLessThanOrEqual(Date.now() + 1_000)
    await vi.waitFor(() => expect(core.stderr).toContain('"event":"clock.differs"'))
    const line = core.stderr.split('\n').find((each) => each.includes('clock.differs'))!
    expect(Math.round(JSON.parse(line).difference_ms / 60_000)).toBe(-AHEAD_MS / 60_000)
  })
})
