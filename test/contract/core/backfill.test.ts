import { afterAll, beforeAll, expect, test } from 'vitest'
import { backfill, receiver, stateFile, tracesOf } from '../../cli/backfill-run.ts'
import { RunningCore } from './running-core.ts'

const PIPELINES = 500
/** The distance between two pipelines that have a child pipeline. */
const PARENT_EVERY = 50

let core: RunningCore
beforeAll(async () => {
  core = await RunningCore.start()
})
afterAll(() => core.close())

async function call(method: string, path: string, body: unknown): Promise<{ readonly id: number }> {
  const reply = await fetch(`${core.url}/api/v4${path}`, {
    method,
    headers: { 'private-token': core.rootToken, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(reply.status, await reply.clone().text()).toBe(201)
  return (await reply.json()) as { readonly id: number }
}

/** Returns the body of a pipeline hook, as GitLab sends it. */
const hook = (id: number, project: number) => ({
  object_kind: 'pipeline',
  object_attributes: {
    id,
    ref: 'main',
    sha: 'a'.repeat(40),
    source: 'push',
    status: id % 3 === 0 ? 'failed' : 'success',
    created_at: '2026-02-11 09:20:14 UTC',
    finished_at: '2026-02-11 09:20:17 UTC',
    duration: 3,
  },
  project: { id: project, name: 'tide-tables', web_url: `${core.url}/root/tide-tables` },
  ...(id % PARENT_EVERY === 1 && id > 1
    ? { source_pipeline: { project: { id: project }, pipeline_id: id - 1, job_id: (id - 1) * 10 + 2 } }
    : {}),
  builds: [{ id: id * 10 + 1, stage: 'build', name: 'compile', status: 'success', duration: 2.5 }],
  bridges:
    id % PARENT_EVERY === 0
      ? [{ id: id * 10 + 2, stage: 'build', name: 'start', status: 'success', bridge: true }]
      : [],
})

test('backfills 500 pipelines from the core, with two interruptions', async () => {
  const project = await call('POST', '/projects', { name: 'tide-tables' })
  for (let id = 1; id <= PIPELINES; id++) {
    await call('PUT', `/projects/${project.id}/pipeline_records/${id}`, hook(id, project.id))
  }

  let interruption = new AbortController()
  const interruptAt = new Set([300, 700])
  const server = await receiver((_, index) => {
    if (interruptAt.has(index)) interruption.abort()
    return { play: 'reply', status: 200 }
  })
  const state = await stateFile()
  const exitCodes: (number | null)[] = []
  for (let runs = 0; runs < 3; runs++) {
    interruption = new AbortController()
    const { exitCode, stderr } = await backfill({
      from: core.url,
      project: 'root/tide-tables',
      endpoint: server.url,
      state,
      world: { env: { PENSTOCK_FORGE_TOKEN: core.rootToken }, signal: interruption.signal },
    })
    exitCodes.push(exitCode)
    expect(stderr).not.toContain(core.rootToken)
  }
  expect(exitCodes).toEqual([130, 130, 0])
  const ids = tracesOf(server.requests).map(Number)
  expect([...new Set(ids)].toSorted((a, b) => a - b)).toEqual(Array.from({ length: PIPELINES }, (_, at) => at + 1))
  expect(ids.length - PIPELINES).toBeLessThanOrEqual(2 * 4)
  expect(server.requests.length - 3 * PIPELINES).toBeLessThanOrEqual(2 * 4)
}, 120_000)
