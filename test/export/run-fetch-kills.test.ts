import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '@penstock/db'
import { decodeRequest } from '@penstock/otlp'
import { ScriptedServer } from '@penstock/testkit'
import { expect, test } from 'vitest'
import { answering, githubRun } from '../../packages/exporter/src/fetching/fetching.harness.ts'
import { CoreProcess } from '../core/core-process.ts'
import { seededRandom } from '../load/gateway/token-text.ts'
import { endLeases, untilDrained } from './issue-load.ts'

const KILLS = 6
const RUNS_PER_LIFE = 12
const MAX_ANSWER_MS = 60
const SECRET = 'secret-of-the-forge'
const API_TOKEN = 'canary-api-token-77'

test('every run with an accepted hook is exported once with its jobs, however often the process is killed', async () => {
  const random = seededRandom(20_261_130)
  const dataDir = mkdtempSync(join(tmpdir(), 'penstock-run-fetch-kill-'))
  const runs = new Map<string, ReturnType<typeof githubRun>>()
  const forge = await ScriptedServer.start(({ path }) => {
    const run = runs.get(/\/runs\/(\d+)\//.exec(path)?.[1] ?? '')
    const reply = run && answering(run)(path, 0)
    if (reply?.play !== 'reply') return { play: 'reply', status: 404 }
    return { ...reply, after: sleep(random() * MAX_ANSWER_MS) }
  })
  let isOpen = false
  const receiver = await ScriptedServer.start(() => ({ play: 'reply', status: isOpen ? 200 : 503 }))
  const source = {
    forge: 'github',
    secretToken: SECRET,
    signals: ['traces'],
    encoding: 'json',
    endpoint: receiver.url,
    apiToken: API_TOKEN,
    apiUrl: forge.url,
  }
  const start = () => CoreProcess.start(dataDir, { env: { PENSTOCK_SOURCES: JSON.stringify({ forge: source }) } })
  const send = async (service: CoreProcess, hook: object): Promise<boolean> => {
    const body = JSON.stringify(hook)
    const signature = createHmac('sha256', SECRET).update(body).digest('hex')
    const headers = { 'X-GitHub-Event': 'workflow_run', 'X-Hub-Signature-256': `sha256=${signature}` }
    const url = new URL('/hooks/pipelines/forge', service.url)
    const answer = await fetch(url, { method: 'POST', headers, body }).catch(() => undefined)
    return answer?.status === 202
  }
  const accepted = new Set<string>()
  let service = await start()
  const db = openDatabase<object>(join(dataDir, 'core.db'))
  try {
    for (let life = 0; life < KILLS; life += 1) {
      const before = forge.requests.length
      for (let number = 0; number < RUNS_PER_LIFE; number += 1) {
        const run = githubRun(BigInt(runs.size))
        const id = String(run.hook.workflow_run.id)
        runs.set(id, run)
        if (await send(service, run.hook)) accepted.add(id)
        if (random() < 0.3) await send(service, run.hook)
      }
      await forge.received(before + 1 + Math.floor(random() * RUNS_PER_LIFE))
      service.kill()
      await service[Symbol.asyncDispose]()
      await endLeases(db)
      service = await start()
    }
    isOpen = true
    const refused = receiver.requests.length
    await untilDrained(db)
    const spans = receiver.requests
      .slice(refused)
      .flatMap(({ body }) => decodeRequest('traces', body, 'json').resources)
      .flatMap(({ scopes }) => scopes.flatMap(({ items }) => items))
      .filter(({ name }) => !name.startsWith('step: '))
    expect(service.stderr).not.toContain('export.run_not_read')
    expect(accepted.size).toBe(KILLS * RUNS_PER_LIFE)
    const delivered = new Map<string, string[]>()
    for (const { traceId, name } of spans)
      delivered.set(String(traceId), [...(delivered.get(String(traceId)) ?? []), name])
    expect(delivered.size).toBe(accepted.size)
    for (const names of delivered.values()) expect(names.toSorted()).toEqual(['RUN CI', 'job: build', 'job: test'])
  } finally {
    await service[Symbol.asyncDispose]()
    await db.close()
    await forge.close()
    await receiver.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}, 300_000)
