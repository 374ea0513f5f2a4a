import { readFile } from 'node:fs/promises'
import type { Span } from '@penstock/otlp'
import { ManualClock } from '@penstock/testkit'
import { describe, expect, test } from 'vitest'
import { penstock, Sink } from '../command-line.ts'
import { backfill, idsUpTo, lastLine, setting, spansIn, traces, tracesOf, upTo, worldWith } from './backfill-run.ts'
import { type BridgePart, forgeToken } from './scripted-forge.ts'
import { temporaryDirectory } from './temporary-directory.ts'

describe('a backfill reads', () => {
  test('every finished pipeline with all attempts of its jobs and its bridges, oldest first', async () => {
    const { forge, server, run } = await setting([{ id: 33 }, { id: 31 }, { id: 32, status: 'running' }])
    const outcome = await backfill(run)
    expect(outcome.exitCode).toBe(0)
    expect(tracesOf(server.requests).toSorted()).toEqual(['31', '33'])
    expect(server.requests).toHaveLength(6)
    expect(forge.paths.toSorted()).toEqual([
      '/projects/17/pipelines/31',
      '/projects/17/pipelines/31/jobs?include_retried=true&per_page=100&page=1',
      '/projects/17/pipelines/31/trigger_jobs?per_page=100&page=1',
      '/projects/17/pipelines/33',
      '/projects/17/pipelines/33/jobs?include_retried=true&per_page=100&page=1',
      '/projects/17/pipelines/33/trigger_jobs?per_page=100&page=1',
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

  test.each<{ parts: readonly BridgePart[]; asked: readonly BridgePart[] }>([
    { parts: ['trigger_jobs', 'bridges'], asked: ['trigger_jobs', 'trigger_jobs', 'trigger_jobs'] },
    { parts: ['trigger_jobs'], asked: ['trigger_jobs', 'trigger_jobs', 'trigger_jobs'] },
    { parts: ['bridges'], asked: ['trigger_jobs', 'bridges', 'bridges', 'bridges'] },
  ])('the bridges of a forge that serves $parts', async ({ parts, asked }) => {
    // The children are read one after the other, so the first pipeline alone shows which list exists.
    const { forge, server, run } = await setting([
      { id: 1, starts: [{ id: 2 }] },
      { id: 2, hidden: true, starts: [{ id: 3 }] },
      { id: 3, hidden: true },
    ])
    forge.bridgeParts = parts
    expect(await backfill({ ...run, flags: traces })).toMatchObject({ exitCode: 0, stderr: '' })
    expect(tracesOf(server.requests)).toEqual(['1', '2', '3'])
    expect(forge.paths.flatMap((path) => /trigger_jobs|bridges/.exec(path) ?? [])).toEqual(asked)
  })

  test('pipelines without bridges if the forge lists none, and prints that once', async () => {
    const { forge, server, run } = await setting([{ id: 1 }, { id: 2 }, { id: 3 }])
    forge.bridgeParts = []
    const outcome = await backfill({ ...run, flags: traces })
    expect(outcome).toMatchObject({
      exitCode: 0,
      stderr:
        'ops/tools: the forge serves neither trigger_jobs nor bridges of a pipeline; pipelines are exported without their bridges\n',
    })
    expect(tracesOf(server.requests)).toEqual(['1', '2', '3'])
  })

  test.each([
    { what: 'its jobs', missing: '/pipelines/2/jobs', named: '/projects/17/pipelines/2/jobs' },
    { what: 'its bridges', missing: '/pipelines/2/trigger_jobs', named: 'the bridges of /projects/17/pipelines/2' },
  ])('a 404 of $what: the pipeline is refused, because it exists', async ({ missing, named }) => {
    const { forge, server, run } = await setting(upTo(3))
    forge.bridgeParts = ['trigger_jobs']
    // The first pipeline has been read when the second is asked for, so the list of bridges is known to exist.
    const firstIsRead = forge.server.received(5)
    forge.trouble = ({ path }) => {
      if (path.includes(missing)) return { play: 'reply', status: 404, after: firstIsRead }
      return undefined
    }
    const outcome = await backfill({ ...run, flags: traces })
    expect(outcome.exitCode).toBe(1)
    expect(outcome.stderr).toContain(
      `ops/tools/-/pipelines/2: ${named}: HTTP 404, although the pipeline exists; check what the access token may read\n`,
    )
    expect(outcome.stderr).not.toContain('no longer exists')
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
