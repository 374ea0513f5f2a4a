import { defaultHttpClientLimits, HttpClient } from '@penstock/delivery'
import { forges, RecordError } from '@penstock/forges'
import { ManualClock, type ScriptedReply, ScriptedServer } from '@penstock/testkit'
import { afterEach, expect, test } from 'vitest'
import { defaultFetchLimits, type FetchLimits } from './fetch-limits.ts'
import { FetchEnd, ForgeRequests } from './forge-requests.ts'

const TOKEN = 'canary-api-token-77'
const ANSWER_BYTES = 1_000
const cleanUps: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp()
})

async function requestsTo(replies: readonly ScriptedReply[], limits: Partial<FetchLimits> = {}, path = '') {
  const server = await ScriptedServer.start(replies)
  const client = new HttpClient({ ...defaultHttpClientLimits, keptReplyBytes: ANSWER_BYTES })
  cleanUps.push(
    () => client.close(),
    () => server.close(),
  )
  const clock = new ManualClock(1_785_251_579_000)
  const pause = { untilMs: Number.NEGATIVE_INFINITY }
  const stop = new AbortController()
  const options = {
    client,
    clock,
    limits: { ...defaultFetchLimits, answerBytes: ANSWER_BYTES, runBytes: 2_500, ...limits },
    api: { forgeApi: forges.github.api, url: new URL(server.url + path), token: TOKEN },
    pause,
    signal: stop.signal,
  }
  const requests = new ForgeRequests({ ...options, earlier: null })
  return {
    server,
    clock,
    pause,
    stop,
    requests,
    again: (earlier: string | null) => new ForgeRequests({ ...options, earlier }),
  }
}

const reply = (body: string, status = 200, headers: Readonly<Record<string, string>> = {}): ScriptedReply => ({
  play: 'reply',
  status,
  body,
  headers,
})
const endOf = (asked: Promise<unknown>): Promise<FetchEnd> =>
  asked.then(
    () => Promise.reject(new Error('it was answered')),
    (error: unknown) => (error instanceof FetchEnd ? error : Promise.reject(error)),
  )

test('asks with the token, and returns exact integers and headers without cookies', async () => {
  const headers = { 'set-cookie': 'session=1', link: '</?page=3>; rel="next"' }
  const { server, requests } = await requestsTo([reply('{"id":12345678901234567890}', 200, headers)], {}, '/api/v3/')
  const answer = await requests.ask({ path: '/repos/a/b', query: { page: 2, status: undefined } })
  expect(answer?.body).toEqual({ id: 12345678901234567890n })
  expect(answer?.headers).toMatchObject({ link: headers.link })
  expect(answer?.headers).not.toHaveProperty('set-cookie')
  expect(server.requests[0]).toMatchObject({
    method: 'GET',
    path: '/api/v3/repos/a/b?page=2',
    headers: { authorization: `Bearer ${TOKEN}`, accept: 'application/vnd.github+json' },
  })
})

test('a 404 has no answer', async () => {
  const { requests } = await requestsTo([reply('{}', 404)])
  expect(await requests.ask({ path: '/gone' })).toBeUndefined()
})

test.each([
  ['a refused token', reply('{}', 401), 'unauthorized'],
  ['a missing permission', reply('{"message":"Resource not accessible"}', 403), 'forbidden'],
  ['a redirect', reply('', 302, { location: 'https://elsewhere.example' }), 'refused'],
  ['a longer answer', reply('x'.repeat(ANSWER_BYTES + 1)), 'too_large'],
  ['an answer without end', { play: 'flood', status: 200 } as const, 'too_large'],
  ['a page of a proxy', reply('<html>'), 'unreadable'],
  ['a server error', reply('', 502), undefined],
  ['half an answer', { play: 'reset', status: 200, body: '{"id":' } as const, undefined],
  ['no answer', { play: 'silence' } as const, undefined],
  ['an answer that stalls', { play: 'stall', status: 200, body: '{' } as const, undefined],
])('%s', async (_, played, failure) => {
  const { requests, server } = await requestsTo([played], { requestTimeoutMs: 300 })
  const end = await endOf(requests.ask({ path: '/run' }))
  expect(end.failure).toBe(failure)
  expect(end.message).toMatch(/^\/run: /)
  expect(end.message).not.toContain(TOKEN)
  expect(server.requests).toHaveLength(1)
})

test('all answers about a run are limited together, also those of earlier attempts', async () => {
  const page = reply(JSON.stringify('x'.repeat(900)))
  const { requests, again } = await requestsTo([page, page, page])
  await requests.ask({ path: '/1' })
  await requests.ask({ path: '/2' })
  const later = again(requests.saved)
  expect((await endOf(later.ask({ path: '/3' }))).failure).toBe('too_large')
})

test('the number of requests is limited', async () => {
  const { requests } = await requestsTo([reply('1'), reply('2')], { requests: 2 })
  await requests.ask({ path: '/1' })
  await requests.ask({ path: '/2' })
  expect((await endOf(requests.ask({ path: '/3' }))).failure).toBe('too_large')
  expect((await requests.ask({ path: '/1' }))?.body).toBe(1)
})

test('a used up rate limit pauses all requests of the source until it is reset', async () => {
  const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1785251639' }
  const { requests, clock, server, pause } = await requestsTo([reply('1', 200, headers), reply('2')])
  expect((await requests.ask({ path: '/1' }))?.body).toBe(1)
  expect(pause.untilMs).toBe(clock.monotonicMs() + 60_000)
  expect((await endOf(requests.ask({ path: '/2' }))).waitMs).toBe(60_000)
  expect(server.requests).toHaveLength(1)
  await clock.advance(60_000)
  expect((await requests.ask({ path: '/2' }))?.body).toBe(2)
})

test('an attempt ends with its time, and when the process ends', async () => {
  const { requests, again, clock, stop } = await requestsTo([reply('1')])
  await clock.advance(defaultFetchLimits.budgetMs)
  expect(await endOf(requests.ask({ path: '/1' }))).toMatchObject({ failure: undefined, isLocal: true })
  stop.abort()
  expect(await endOf(again(null).ask({ path: '/1' }))).toMatchObject({ failure: undefined, isLocal: true })
})

test('a path that leads elsewhere is not asked for', async () => {
  const { requests, server } = await requestsTo([reply('1')], {}, '/api/v3')
  await expect(requests.ask({ path: '/repos/../../user' })).rejects.toThrow(RecordError)
  expect(server.requests).toEqual([])
})
