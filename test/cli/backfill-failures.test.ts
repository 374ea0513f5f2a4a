import { readFile } from 'node:fs/promises'
import { Gate, ManualClock, refusedUrl, type ScriptedReply } from '@penstock/testkit'
import { describe, expect, test } from 'vitest'
import { penstock } from '../command-line.ts'
import {
  accepted,
  backfill,
  idsUpTo,
  lastLine,
  receiver,
  setting,
  stateFile,
  traces,
  tracesOf,
  upTo,
  worldWith,
} from './backfill-run.ts'
import { forgeToken, ScriptedForge } from './scripted-forge.ts'

describe('a failing forge', () => {
  const reply = (status: number, headers: Readonly<Record<string, string>> = {}, body = ''): ScriptedReply => ({
    play: 'reply',
    status,
    headers,
    body,
  })

  test.each<{ what: string; trouble: ScriptedReply }>([
    { what: '503', trouble: reply(503) },
    { what: '500', trouble: reply(500) },
    { what: 'a reset', trouble: { play: 'reset' } },
    { what: 'a page that breaks off', trouble: { play: 'reset', status: 200, body: '[{"id":' } },
  ])('$what is retried', async ({ trouble }) => {
    const { forge, server, run } = await setting(upTo(4))
    forge.trouble = (_, index) => (index % 3 === 1 ? trouble : undefined)
    const { exitCode, stderr } = await backfill({ ...run, flags: traces })
    expect(exitCode).toBe(0)
    expect(tracesOf(server.requests)).toEqual(idsUpTo(4))
    expect(stderr).toMatch(/^\/projects\/17\/pipelines: attempt 1 failed, next in 0\.0 s: /m)
  })

  test.each([
    { what: '429 with Retry-After', trouble: reply(429, { 'retry-after': '30' }), waitMs: 30_000 },
    { what: '429 with a moment', trouble: reply(429, { 'ratelimit-reset': '1030' }), waitMs: 1_030_000 },
    { what: '429 alone', trouble: reply(429), waitMs: 60_000 },
  ])('waits after $what', async ({ trouble, waitMs }) => {
    const { forge, server, run } = await setting(upTo(2))
    forge.trouble = (_, index) => (index === 1 ? trouble : undefined)
    const clock = new ManualClock(1_000_000)
    const running = backfill({ ...run, flags: [...traces, '--retry-for', '1'], world: worldWith(clock) })
    await clock.untilSleeping()
    expect(clock.wakeTimesMs).toEqual([1_000_000 + waitMs])
    expect(forge.server.requests).toHaveLength(2)
    await clock.advance(waitMs)
    const { exitCode, stderr } = await running
    expect(exitCode).toBe(0)
    expect(stderr).toMatch(/^the rate limit of 127\.0\.0\.1:\d+ is used up; continues in \d+ s$/m)
    expect(tracesOf(server.requests)).toEqual(['1', '2'])
  })

  test('waits after the last allowed request', async () => {
    const { forge, run } = await setting([])
    forge.trouble = (_, index) =>
      index === 0 ? reply(200, { 'ratelimit-remaining': '0', 'ratelimit-reset': '1770801640' }, '{"id":17}') : undefined
    const clock = new ManualClock(1_770_801_600_000)
    const running = backfill({ ...run, world: worldWith(clock) })
    await clock.untilSleeping()
    expect({ wakeTimesMs: clock.wakeTimesMs, requests: forge.server.requests.length }).toEqual({
      wakeTimesMs: [1_770_801_640_000],
      requests: 1,
    })
    await clock.advance(40_000)
    expect((await running).exitCode).toBe(0)
  })

  test.each([
    { status: 401, complaint: 'HTTP 401 Unauthorized: the access token is wrong or expired' },
    { status: 403, complaint: 'HTTP 403 Forbidden: the access token may not read this; it needs the scope read_api' },
    { status: 404, complaint: 'HTTP 404 Not Found: there is nothing at this address that the access token may read' },
    { status: 400, complaint: 'HTTP 400 Bad Request: [token] is no good\n' },
  ])('$status ends the backfill immediately', async ({ status, complaint }) => {
    const first = await setting(upTo(4))
    first.forge.trouble = () => reply(status, {}, `{"message":"${forgeToken} is no good"}`)
    const outcome = await backfill(first.run)
    expect(outcome).toMatchObject({ exitCode: 1, stdout: '' })
    expect(outcome.stderr).toContain(`penstock: /projects/ops%2Ftools: ${complaint}`)
    expect(outcome.stderr).not.toContain('canary')
    expect(first.forge.server.requests).toHaveLength(1)

    const later = await setting(upTo(40))
    later.forge.trouble = ({ path }) =>
      path.includes('page=3') ? reply(status, {}, `{"message":"${forgeToken} is no good"}`) : undefined
    const half = await backfill({ ...later.run, flags: [...traces, '--per-page', '2'] })
    expect(half.exitCode).toBe(1)
    expect(half.stderr).toContain(`ops/tools: /projects/17/pipelines: ${complaint}`)
    expect(half.stderr).toContain(
      `run the same command again to continue; accepted pipelines are recorded in ${later.run.state}`,
    )
    expect(tracesOf(later.server.requests)).toEqual(['1', '2', '3', '4'])
    expect(later.forge.paths.filter((path) => path.includes('page=3'))).toHaveLength(1)
  })

  test.each([401, 403, 404])('%i without a token: prints that no token was given', async (status) => {
    const { forge, run } = await setting(upTo(1))
    forge.trouble = () => reply(status)
    const { stderr } = await backfill({ ...run, world: { env: { PENSTOCK_FORGE_TOKEN: '' } } })
    expect(stderr).toMatch(
      /^penstock: \/projects\/ops%2Ftools: HTTP 40\d [\w ]+: no access token was given \(--private-token or PENSTOCK_FORGE_TOKEN\)\n$/,
    )
  })

  test('the token is not sent to the target of a redirect', async () => {
    const { forge, run } = await setting(upTo(1))
    const elsewhere = await receiver()
    forge.trouble = () => reply(301, { location: `${elsewhere.url}/api/v4/projects/9?token=canary` })
    const { exitCode, stderr } = await backfill(run)
    expect(exitCode).toBe(1)
    expect(stderr).toBe(
      `penstock: /projects/ops%2Ftools: HTTP 301 Moved Permanently: it redirects to ${elsewhere.url}/api/v4/projects/9; ` +
        'the access token is not sent there; set the final address with --from or --project\n',
    )
    expect(elsewhere.requests).toEqual([])
  })

  test.each([
    { what: 'no JSON', body: '<html>', complaint: 'the answer is not valid JSON; is this the address of a GitLab-' },
    { what: 'no object', body: '[]', complaint: 'the answer is not a JSON object' },
    { what: 'no id', body: '{"name":"x"}', complaint: 'the project has no id' },
  ])('a project that is $what', async ({ body, complaint }) => {
    const { forge, run } = await setting(upTo(1))
    forge.trouble = () => reply(200, {}, body)
    const { exitCode, stderr } = await backfill(run)
    expect(exitCode).toBe(1)
    expect(stderr).toContain(`penstock: /projects/ops%2Ftools: ${complaint}`)
  })

  test.each([
    { what: 'no JSON', body: 'busy', complaint: 'the answer is not valid JSON' },
    { what: 'no list', body: '{}', complaint: 'the answer is not a JSON list' },
    { what: 'no list of pipelines', body: '[{"id":0}]', complaint: 'an item of the list has no id' },
    {
      what: 'without end',
      body: '[{"id":1,"status":"success"}]',
      complaint: 'the forge repeats its pages endlessly',
    },
  ])('a page that is $what', async ({ body, complaint }) => {
    const { forge, run } = await setting(upTo(1))
    forge.trouble = ({ path }) => (path.includes('/pipelines?') ? reply(200, { 'x-next-page': '2' }, body) : undefined)
    const { exitCode, stderr } = await backfill(run)
    expect(exitCode).toBe(1)
    expect(stderr).toContain(`ops/tools: /projects/17/pipelines: ${complaint}`)
    expect(forge.server.requests.length).toBeLessThan(20)
  })

  test('an unreachable forge is retried, with a line for each attempt', async () => {
    const { run } = await setting([])
    const from = ['--from', await refusedUrl(), '--project', '17', '--retry-for', '0.05']
    const outcome = await penstock(['backfill', ...from, '--endpoint', run.endpoint], { env: {} })
    expect(outcome.exitCode).toBe(1)
    expect(outcome.stderr).toMatch(/^penstock: \/projects\/17: gave up after \d+ attempts?: /m)
  })
})

describe('a failing receiver', () => {
  test('the next run sends only the refused pipelines again', async () => {
    const forge = await ScriptedForge.start(upTo(5))
    const state = await stateFile()
    let isWell = false
    const server = await receiver((request) =>
      isWell || !tracesOf([request]).includes('3') ? accepted : { play: 'reply', status: 400 },
    )
    const run = { from: forge.server.url, endpoint: server.url, state }
    expect((await backfill(run)).exitCode).toBe(1)
    isWell = true
    const before = server.requests.length
    expect((await backfill(run)).exitCode).toBe(0)
    expect(tracesOf(server.requests.slice(before))).toEqual(['3'])
    expect(server.requests).toHaveLength(before + 1)
  })

  test('accepted signals are not sent again when the next run sends the third', async () => {
    const forge = await ScriptedForge.start(upTo(5))
    const state = await stateFile()
    let mayMetrics = false
    const server = await receiver(({ path }) =>
      path === '/v1/metrics' && !mayMetrics ? { play: 'reply', status: 403 } : accepted,
    )
    const run = { from: forge.server.url, endpoint: server.url, state }
    expect((await backfill(run)).exitCode).toBe(1)
    expect(tracesOf(server.requests).toSorted()).toEqual(idsUpTo(5))
    mayMetrics = true
    const before = server.requests.length
    expect((await backfill(run)).exitCode).toBe(0)
    expect(server.requests.slice(before).map(({ path }) => path)).toEqual(Array(5).fill('/v1/metrics'))
  })

  test('a refused token ends the reading too', async () => {
    const forge = await ScriptedForge.start(upTo(300))
    const server = await receiver(() => ({ play: 'reply', status: 401 }))
    const outcome = await backfill({
      from: forge.server.url,
      endpoint: server.url,
      state: await stateFile(),
      flags: traces,
    })
    expect(outcome.exitCode).toBe(1)
    expect(lastLine(outcome.stdout)).toMatch(/^some items were not accepted; stopped: HTTP 401 Unauthorized/)
    expect(forge.server.requests.length).toBeLessThan(120)
  })

  test('a refused token is reported once, and no pipeline is treated as exported', async () => {
    const forge = await ScriptedForge.start([{ id: 1, status: 'running' }, { id: 2 }, { id: 3 }])
    const open = new Gate()
    const server = await receiver((_, index) =>
      index === 0
        ? { play: 'reply', status: 401, after: server.received(4) }
        : { play: 'reply', status: 200, after: open.opened },
    )
    const outcome = await backfill({ from: forge.server.url, endpoint: server.url, state: await stateFile() })
    open.open()
    expect(outcome.exitCode).toBe(1)
    const reported = outcome.stdout.split('\n\n')[1]!.split('\n')
    // The signals are sent side by side, and any of them can arrive first.
    expect(reported[0]).toMatch(/^(traces|metrics|logs): HTTP 401 Unauthorized/)
    expect(outcome.stdout.match(/stopped while/g) ?? []).toHaveLength(0)
    expect(outcome.stderr).not.toContain('exported')
    expect(outcome.stderr).toMatch(/^\d converted, 1 skipped, 0 refused$/m)
  })

  test('a pipeline with many chunks is accepted after its last chunk', async () => {
    const forge = await ScriptedForge.start([{ id: 1, jobs: 800 }, { id: 2 }])
    const state = await stateFile()
    const server = await receiver((_, index) => (index === 0 ? { play: 'reply', status: 400 } : accepted))
    const run = { from: forge.server.url, endpoint: server.url, state, flags: traces }
    expect((await backfill(run)).exitCode).toBe(1)
    expect(await readFile(state, 'utf8')).toMatch(/^\{.*\n\{"id":"2","signal":"traces"\}\n$/)
    expect((await backfill(run)).exitCode).toBe(0)
    expect(server.requests).toHaveLength(5)
  })
})

test('a project that leads to another path is an error before any request', async () => {
  const from = ['--from', await refusedUrl(), '--project', '..', '--endpoint', await refusedUrl()]
  const { exitCode, stderr } = await penstock(['backfill', ...from, '--state-file', await stateFile()])
  expect(exitCode).toBe(1)
  expect(stderr).toBe('penstock: ".." is no name in a path\n')
})
