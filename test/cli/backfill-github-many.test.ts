import { ManualClock } from '@penstock/testkit'
import { expect, test } from 'vitest'
import { ids, passTime, reply, runs, stage } from './backfill-github-run.ts'
import { githubToken } from './scripted-github.ts'

test('10,000 runs with rate limits and an expired token: nothing is lost, nothing sent twice', async () => {
  const { github, backfill, received } = await stage(runs(10_000))
  github.trouble = (_, index) => {
    if (index === 9_000) github.token = 'ghp-canary-new'
    if (index % 997 === 5) return reply(429, { 'retry-after': '20' })
    return index % 1_301 === 7 ? reply(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' }) : undefined
  }
  const clock = new ManualClock(1_771_900_000_000)
  const first = backfill([], { clock, env: { PENSTOCK_FORGE_TOKEN: githubToken } })
  expect((await passTime(clock, first)).exitCode).toBe(1)
  const second = backfill([], { clock, env: { PENSTOCK_FORGE_TOKEN: 'ghp-canary-new' } })
  expect((await passTime(clock, second)).exitCode).toBe(0)
  const sent = received()
  expect(sent).toHaveLength(10_000)
  expect(new Set(sent)).toEqual(new Set(ids(10_000)))
}, 600_000)
