import { ManualClock } from '@penstock/testkit'
import { describe, expect, test } from 'vitest'
import { ids, passTime, reply, runs, stage } from './backfill-github-run.ts'
import { spansIn } from './backfill-run.ts'
import { githubToken } from './scripted-github.ts'

describe('a backfill from GitHub', () => {
  test('reads every attempt with all its jobs, oldest first', async () => {
    const { github, server, backfill, received } = await stage([
      { id: 2, jobs: 150 },
      { id: 1, attempts: 3 },
    ])
    expect(await backfill(['--concurrency', '1'])).toMatchObject({ exitCode: 0, stderr: '' })
    expect(received()).toEqual(['1/1', '1/2', '1/3', '2/1'])
    expect(spansIn(server.requests)).toHaveLength(4 + 3 + 150)
    expect(github.paths.filter((path) => path.includes('/runs/1/attempts/2'))).toEqual([
      '/runs/1/attempts/2',
      '/runs/1/attempts/2/jobs?per_page=100&page=1',
    ])
  })

  test('sends an attempt that was added later, and no other again', async () => {
    const { github, backfill, received } = await stage([{ id: 1 }, { id: 2 }])
    expect((await backfill()).exitCode).toBe(0)
    github.runs = [{ id: 1, attempts: 2 }, { id: 2 }]
    expect((await backfill()).exitCode).toBe(0)
    expect(received().toSorted()).toEqual(['1/1', '1/2', '2/1'])
  })

  test('skips a run that has not finished without reading it', async () => {
    const { github, backfill, received } = await stage([{ id: 1, status: 'in_progress' }, { id: 2 }])
    const { exitCode, stderr } = await backfill()
    expect(exitCode).toBe(0)
    expect(stderr).toContain('ferrous-labs/anvil run 1/1: skipped')
    expect(received()).toEqual(['2/1'])
    expect(github.paths.filter((path) => path.startsWith('/runs/1/'))).toEqual([])
  })

  test('reads the runs between --since and --until only', async () => {
    const { backfill, received } = await stage(runs(9))
    const window = ['--since', '2026-02-11T09:03:00Z', '--until', '2026-02-11T09:06:00Z']
    expect((await backfill(window)).exitCode).toBe(0)
    expect(received().toSorted()).toEqual(['3/1', '4/1', '5/1'])
  })

  test('goes on without a run that was deleted after it was listed', async () => {
    const { github, backfill, received } = await stage(runs(5))
    github.trouble = ({ path }) => {
      if (!path.includes('/runs/3/attempts/1/jobs')) return undefined
      github.runs = github.runs.filter(({ id }) => id !== 3)
      return undefined
    }
    expect(await backfill()).toMatchObject({ exitCode: 0, stderr: 'ferrous-labs/anvil run 3/1: no longer exists\n' })
    expect(received().toSorted()).toEqual(['1/1', '2/1', '4/1', '5/1'])
  })

  test.each([
    {
      what: '403 without requests left',
      trouble: reply(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1030' }),
    },
    { what: '403 with Retry-After', trouble: reply(403, { 'retry-after': '30', 'x-ratelimit-remaining': '9' }) },
    { what: '429', trouble: reply(429, { 'retry-after': '30' }) },
  ])('waits after $what', async ({ trouble }) => {
    const { github, backfill, received } = await stage(runs(2))
    github.trouble = (_, index) => (index === 1 ? trouble : undefined)
    const clock = new ManualClock(1_770_900_000_000)
    const reset = String(clock.nowMs() / 1_000 + 30)
    if ('headers' in trouble && trouble.headers?.['x-ratelimit-reset'] !== undefined) {
      github.trouble = (_, index) =>
        index === 1 ? reply(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset }) : undefined
    }
    const running = backfill([], { clock, env: { PENSTOCK_FORGE_TOKEN: githubToken } })
    await clock.untilSleeping()
    expect(clock.wakeTimesMs[0]).toBe(1_770_900_030_000)
    await clock.advance(30_000)
    const { exitCode, stderr } = await running
    expect(exitCode).toBe(0)
    expect(stderr).toMatch(/^the rate limit of 127\.0\.0\.1:\d+ is used up; continues in 30 s$/m)
    expect(received().toSorted()).toEqual(['1/1', '2/1'])
  })

  test('ends immediately if the token may not read', async () => {
    const { github, backfill } = await stage(runs(2))
    github.trouble = () => reply(403, { 'x-ratelimit-remaining': '4000' }, '{"message":"Resource not accessible"}')
    const { exitCode, stderr } = await backfill()
    expect(exitCode).toBe(1)
    expect(stderr).toContain('the access token may not read this; it needs read access to Actions of the repository')
    expect(stderr).not.toContain('canary')
    expect(github.server.requests).toHaveLength(1)
  })

  test('stops when the token expires, and continues with another one: nothing is lost, nothing sent twice', async () => {
    const { github, backfill, received } = await stage(runs(40))
    github.trouble = (_, index) => {
      if (index === 30) github.token = 'ghp-canary-new'
      return undefined
    }
    const half = await backfill()
    expect(half.exitCode).toBe(1)
    expect(half.stderr).toMatch(/HTTP 401 Unauthorized: the access token is wrong or expired \(--private-token or /)
    expect(half.stderr).toContain('run the same command again to continue')
    expect(half.stderr).not.toContain('canary')
    expect(received().length).toBeGreaterThan(0)
    expect(received().length).toBeLessThan(40)
    expect((await backfill([], {}, 'ghp-canary-new')).exitCode).toBe(0)
    expect(received().toSorted()).toEqual(ids(40).toSorted())
  })

  test('300 runs with rate limits, errors and deletions: nothing is lost, nothing sent twice', async () => {
    const { github, backfill, received } = await stage(runs(300))
    const clock = new ManualClock(1_770_900_000_000)
    github.trouble = ({ path }, index) => {
      if (path.includes('/runs/150/')) github.runs = github.runs.filter(({ id }) => id !== 150)
      if (index % 97 === 5) return reply(429, { 'retry-after': '20' })
      if (index % 131 === 7) return reply(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' })
      return index % 61 === 3 ? reply(502, {}) : undefined
    }
    const running = backfill(['--per-page', '20'], { clock, env: { PENSTOCK_FORGE_TOKEN: githubToken } })
    expect((await passTime(clock, running)).exitCode).toBe(0)
    expect(received().toSorted()).toEqual(
      ids(300)
        .filter((id) => id !== '150/1')
        .toSorted(),
    )
  })
})
