import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { systemClock } from '@penstock/runtime'
import { temporarySchema } from '@penstock/testkit'
import { expect, onTestFinished, test, vi } from 'vitest'
import { serving } from '../cli/serving.ts'
import { CoreProcess } from '../core/core-process.ts'
import { describeWithPostgres } from './describe-with-postgres.ts'

const AHEAD_MS = 3 * 3_600_000
const preload = pathToFileURL(join(import.meta.dirname, '../browser/fixed-start.mjs')).href

const adminKey = 'the-admin-key-of-this-test'

describeWithPostgres('the clock of the database', (serverUrl) => {
  test.each([-60_000, 60_000])('a change waits for a gateway with a clock that is off by %d ms', async (offMs) => {
    const schema = await temporarySchema(serverUrl())
    const start = (clock = systemClock) => {
      const dataDir = mkdtempSync(join(tmpdir(), 'penstock-clock-'))
      onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
      const env = {
        PENSTOCK_DATA_DIR: dataDir,
        PENSTOCK_GATEWAY_DATABASE_URL: schema.location,
        PENSTOCK_PEPPERS: `one:${Buffer.alloc(32, 1).toString('base64')}`,
        PENSTOCK_OBS_API_KEY: adminKey,
        PENSTOCK_UPSTREAM: 'http://127.0.0.1:9',
      }
      return serving(['gateway'], env, { endsWithTest: false, clock })
    }
    const right = await start()
    const wrong = await start({ ...systemClock, nowMs: () => Date.now() + offMs })
    try {
      for (const [{ managementUrl }, enabled] of [[right, true] as const, [wrong, false] as const]) {
        const answer = await fetch(`${managementUrl}/api/v1/ingest_auth/state`, {
          method: 'PUT',
          headers: { 'obs-api-key': adminKey, 'content-type': 'application/json' },
          body: JSON.stringify({ enabled }),
        })
        expect(await answer.json()).toMatchObject({ enabled, propagation: { instances: 2, applied: 2 } })
      }
    } finally {
      await Promise.all([right.end(), wrong.end()])
      await schema.remove()
    }
  })

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
