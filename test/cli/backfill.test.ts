import { readFile } from 'node:fs/promises'
import { decodeRequest, type Span } from '@penstock/otlp'
import { Gate, ManualClock, type RecordedRequest, refusedUrl, type ScriptedReply } from '@penstock/testkit'
import { describe, expect, test } from 'vitest'
import { penstock, Sink } from '../command-line.ts'
import { accepted, backfill, idsUpTo, receiver, stateFile, tracesOf, upTo } from './backfill-run.ts'
import { forgeToken, ScriptedForge } from './scripted-forge.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1) ?? ''
const traces = ['--signals', 'traces', '--concurrency', '1']

async function setting(...[pipelines, pagination]: Parameters<typeof ScriptedForge.start>) {
  const forge = await ScriptedForge.start(pipelines, pagination)
  const server = await receiver()
  return { forge, server, run: { from: forge.server.url, endpoint: server.url, state: await stateFile() } }
}

describe('a backfill reads', () => {
  test('every finished pipeline with all attempts of its jobs and its bridges, oldest first', async () => {
    const { forge, server, run } = await setting([{ id: 33 }, { id: 31 }, { id: 32, status: 'running' }])
    const outcome = await backfill(run)
    expect(outcome.exitCode).toBe(0)
    expect(tracesOf(server.requests).toSorted()).toEqual(['31', '33'])
    expect(server.requests).toHaveLength(6)
    expect(forge.paths.toSorted()).toEqual([
      '/projects/17/pipelines/31',
      '/projects/17/pipelines/31/bridges?per_page=100&page=1',
      '/projects/17/pipelines/31/jobs?include_retried=true&per_page=100&page=1',
      '/projects/17/pipelines/33',
      '/projects/17/pipelines/33/bridges?per_page=100&page=1',
      '/projects/17/pipelines/33/jobs?include_retried=true&per_page=100&page=1',
      '/projects/17/pipelines?order_by=id&sort=asc&per_page=100&page=1',
      '/projects/ops%2Ftools',
    ])
    expect(lastLine(outcome.stdout)).toBe('everything accepted')
    expect(outcome.stderr).toBe(
      'ops/tools/-/pipelines/32: skipped: pipeline 32: not final (running)\n2 converted, 1 skipped, 0 refused\n',
    )
  })

  test.each(['x-next-page', 'link', 'nothing'] as const)(
    'all pages, with the next page announced by %s',
    async (pages) => {
      const { server, run } = await setting(upTo(23), { pages })
      expect((await backfill({ ...run, flags: [...traces, '--per-page', '5'] })).exitCode).toBe(0)
      expect(tracesOf(server.requests)).toEqual(idsUpTo(23))
    },
  )

  test('all pages of jobs', async () => {
    const { server, run } = await setting([{ id: 31, jobs: 250 }])
    expect((await backfill({ ...run, flags: traces })).exitCode).toBe(0)
    expect(spansIn(server.requests)).toHaveLength(251)
  })

  test('ids above 2^53', async () => {
    const { forge, server, run } = await setting([{ id: 9_007_199_254_740_993n }, { id: 9_007_199_254_740_995n }])
    expect((await backfill({ ...run, flags: traces })).exitCode).toBe(0)
    expect(tracesOf(server.requests)).toEqual(['9007199254740993', '9007199254740995'])
    expect(forge.paths).toContain('/projects/17/pipelines/9007199254740993')
  })

  test('no pipeline that was deleted after it was listed', async () => {
    const { forge, server, run } = await setting(upTo(3))
    forge.trouble = ({ path }) => (path.includes('/pipelines/2') ? { play: 'reply', status: 404 } : undefined)
    const outcome = await backfill({ ...run, flags: traces })
    expect(outcome).toMatchObject({ exitCode: 0, stderr: 'ops/tools/-/pipelines/2: no longer exists\n' })
    expect(tracesOf(server.requests)).toEqual(['1', '3'])
  })

  test('the other pipelines if one is too long', async () => {
    const { server, run } = await setting([{ id: 1 }, { id: 2, jobs: 150 }, { id: 3 }])
    const outcome = await backfill({ ...run, flags: [...traces, '--max-file-bytes', '20000'] })
    expect(outcome.exitCode).toBe(1)
    expect(outcome.stderr).toContain(
      'ops/tools/-/pipelines/2: with its jobs it is longer than 20,000 bytes (--max-file-bytes)\n',
    )
    expect(tracesOf(server.requests)).toEqual(['1', '3'])
  })

  test('several projects, each once', async () => {
    const { server, run } = await setting(upTo(2))
    await using directory = await temporaryDirectory()
    const from = ['--from', `${run.from}/api/v4/`, '--project', 'ops/tools', '--project', '17']
    const env = { PENSTOCK_FORGE_TOKEN: forgeToken, PENSTOCK_DATA_DIR: directory.path }
    const args = ['backfill', ...from, '--endpoint', server.url, ...traces]
    expect((await penstock(args, { env })).exitCode).toBe(0)
    expect(tracesOf(server.requests)).toEqual(['1', '2'])
    expect((await penstock(args, { env })).stdout).toContain('nothing to send')
  })
})

describe('filters', () => {
  const pipelines = [
    { id: 1, created_at: '2026-02-01T00:00:00.000Z' },
    { id: 2, created_at: '2026-02-02T10:00:00.000Z', status: 'failed' },
    { id: 3, created_at: '2026-02-03T00:00:00.000Z', status: 'canceled' },
    { id: 4, created_at: '2026-02-04T00:00:00.000Z' },
  ]
  test.each([
    { flags: ['--since', '2026-02-02'], ids: ['2', '3', '4'] },
    { flags: ['--since', '2026-02-02T12:00:00+02:00'], ids: ['2', '3', '4'] },
    { flags: ['--since', '2026-02-02T10:00:01Z'], ids: ['3', '4'] },
    { flags: ['--until', '2026-02-03'], ids: ['1', '2'] },
    { flags: ['--since', '2026-02-02', '--until', '2026-02-04'], ids: ['2', '3'] },
    { flags: ['--status', 'failed'], ids: ['2'] },
    { flags: ['--status', 'failed, canceled'], ids: ['2', '3'] },
  ])('$flags', async ({ flags, ids }) => {
    const { server, run } = await setting(pipelines)
    expect((await backfill({ ...run, flags: [...traces, ...flags] })).exitCode).toBe(0)
    expect(tracesOf(server.requests)).toEqual(ids)
  })

  test('the forge receives the filters as parameters', async () => {
    const { forge, run } = await setting(pipelines)
    await backfill({ ...run, flags: ['--since', '2026-02-02', '--status', 'failed'] })
    expect(forge.paths).toContain(
      '/projects/17/pipelines?order_by=id&sort=asc&per_page=100&updated_after=2026-02-02T00%3A00%3A00.000Z&status=failed&page=1',
    )
  })
})

describe('downstream pipelines', () => {
  const tree = [
    { id: 31, starts: [{ id: 32 }, { id: 40, project_id: 18 }] },
    { id: 32, hidden: true, starts: [{ id: 33 }] },
    { id: 33, hidden: true },
    { id: 34 },
  ]

  test('follow their upstream pipeline, in its trace, below the bridge', async () => {
    const { server, run } = await setting(tree)
    expect((await backfill({ ...run, flags: traces })).exitCode).toBe(0)
    expect(tracesOf(server.requests)).toEqual(['31', '32', '33', '34'])
    const [root, child, grandchild, other] = server.requests.map((request) => spansIn([request]))
    expect(new Set([root, child, grandchild].map((spans) => spans?.[0]?.traceId)).size).toBe(1)
    expect(other?.[0]?.traceId).not.toBe(root?.[0]?.traceId)
    const bridgeOf = (spans: readonly Span[] | undefined) => spans?.find(({ name }) => name === 'job: bridge 0')?.spanId
    expect(child?.[0]?.parentSpanId).toBe(bridgeOf(root))
    expect(grandchild?.[0]?.parentSpanId).toBe(bridgeOf(child))
  })

  test('are sent by the next run in the same trace if the first run ended before', async () => {
    const whole = await setting(tree)
    await backfill({ ...whole.run, flags: traces })
    for (const missing of ['32', '33']) {
      const { forge, server, run } = await setting(tree)
      forge.trouble = ({ path }) =>
        path.endsWith(`/pipelines/${missing}`) ? { play: 'reply', status: 403 } : undefined
      expect((await backfill({ ...run, flags: traces })).exitCode).toBe(1)
      forge.trouble = () => undefined
      expect((await backfill({ ...run, flags: traces })).exitCode).toBe(0)
      expect(tracesOf(server.requests).toSorted()).toEqual(['31', '32', '33', '34'])
      const idOf = (span: Span) => `${span.traceId} ${span.spanId} ${span.parentSpanId}`
      expect(spansIn(server.requests).map(idOf).toSorted()).toEqual(spansIn(whole.server.requests).map(idOf).toSorted())
    }
  })
})

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

  test('a refused token is reported once, and no pipeline counts as exported', async () => {
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
    expect(reported[0]).toMatch(/^traces: HTTP 401 Unauthorized/)
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

describe('output', () => {
  test('no secret is printed or stored', async () => {
    const { forge, server, run } = await setting(upTo(2))
    const flags = ['--private-token', forgeToken, '--token', 'canary-otlp']
    const outcome = await backfill({ ...run, flags, world: { env: { PENSTOCK_FORGE_TOKEN: 'another' } } })
    expect(outcome.exitCode).toBe(0)
    expect(forge.server.requests.every(({ headers }) => headers['private-token'] === forgeToken)).toBe(true)
    expect(server.requests.every(({ headers }) => headers['private-token'] === undefined)).toBe(true)
    const bodies = server.requests.map(({ body }) => Buffer.from(body).toString('latin1'))
    expect([outcome.stdout, outcome.stderr, await readFile(run.state, 'utf8'), ...bodies].join()).not.toContain(
      'canary',
    )
  })

  test('the bar counts pipelines', async () => {
    const { forge, run } = await setting(upTo(40))
    const clock = new ManualClock(1_000_000)
    forge.trouble = () => void clock.advance(50)
    const stderr = new Sink({ isTTY: true, columns: 100 })
    await backfill({ ...run, flags: traces, world: { ...worldWith(clock), stderr } })
    expect(stderr.text).toMatch(/\[K█+░+ +\d+% {2}exporting: \d+ of 40 records, \d+ kB read/)
    expect(stderr.text.endsWith('\r\u001b[K')).toBe(true)
  })

  const on = ['--from', 'http://127.0.0.1:9', '--project', '17', '--endpoint', 'http://127.0.0.1:9']
  test.each([
    { args: on.slice(2), complaint: "required option '--from <url>' not specified" },
    { args: on.slice(0, 2), complaint: "required option '--project <id or path>' not specified" },
    { args: on.slice(0, 4), complaint: 'no receiver was named; set --endpoint or PENSTOCK_EXPORT_ENDPOINT' },
    {
      args: ['--from', 'forge:80', ...on.slice(2)],
      complaint: '--from must be a URL that starts with http:// or https://',
    },
    {
      args: ['--from', 'http://me:canary@forge', ...on.slice(2)],
      complaint: '--from must not contain a user name, password, ? or #; pass the token with --private-token',
    },
    {
      args: [...on, '--private-token', 'canary 7'],
      complaint: 'the private token contains a character that is not allowed in a header; check it for blanks',
    },
    {
      args: [...on, '--metrics-mode', 'cumulative'],
      complaint: "option '--metrics-mode <choice>' argument 'cumulative' is invalid. Allowed choices are per-run.",
    },
    {
      args: [...on, '--project', '18', '--state-file', 'x'],
      complaint: '--state-file is for one project; omit it, or run once per project',
    },
    {
      args: [...on, '--since', 'monday'],
      complaint: "option '--since <date>' argument 'monday' is invalid. It must be 2026-02-11 or 2026-02-11T09:25:11Z.",
    },
  ])('$complaint', async ({ args, complaint }) => {
    expect(await penstock(['backfill', ...args])).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: `penstock: ${complaint}\n`,
    })
  })
})

const worldWith = (clock: ManualClock) => ({ clock, env: { PENSTOCK_FORGE_TOKEN: forgeToken } })

function spansIn(requests: readonly RecordedRequest[]): Span[] {
  return requests.flatMap(({ body }) =>
    decodeRequest('traces', body, 'protobuf').resources.flatMap(({ scopes }) => scopes.flatMap(({ items }) => items)),
  )
}
