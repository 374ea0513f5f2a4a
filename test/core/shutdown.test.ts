import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { CoreProcess } from './core-process.ts'

const PAGES = 20

test('requests of clients that have gone are finished before the database is closed', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'penstock-shutdown-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  await using core = await CoreProcess.start(dataDir)
  const { id } = await core.must('POST', '/groups', { name: 'ops', path: 'ops' })
  const client = new AbortController()
  // The wiki has one writer at a time, so that the other requests are in progress when the first one is answered.
  const answers = Array.from({ length: PAGES }, (_, page) =>
    fetch(`${core.url}/groups/${id}/wikis`, {
      method: 'POST',
      headers: { ...core.credential, 'Content-Type': 'application/json' },
      body: JSON.stringify({ title: `page ${page}`, content: 'x' }),
      signal: client.signal,
    }),
  )
  await Promise.race(answers)
  client.abort()
  await Promise.allSettled(answers)
  await core.end()
  expect(core.stderr).not.toMatch(/"level":"error"|request_failed/)
  await using next = await CoreProcess.start(dataDir)
  const pages: { slug: string }[] = await next.must('GET', `/groups/${id}/wikis`)
  expect(pages.length).toBeGreaterThan(0)
})

test('SIGHUP is logged and ignored', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'penstock-hangup-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  await using core = await CoreProcess.start(dataDir)
  process.kill(core.pid, 'SIGHUP')
  await vi.waitFor(() => expect(core.stderr).toContain('"event":"signal.ignored"'))
  await core.must('GET', '/version')
})
