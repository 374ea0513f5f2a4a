import { request as startRequest } from 'node:http'
import { Gate } from '@penstock/testkit'
import { afterEach, expect, test } from 'vitest'
import { answerTo, fixture, HookReceiver, NOW_MS, secretToken, signed, signingToken } from './hook-receiver.harness.ts'

let receiver: HookReceiver
const start = async (...settings: Parameters<typeof HookReceiver.start>) => {
  receiver = await HookReceiver.start(...settings)
}
afterEach(() => receiver.close())

const body = fixture('pipelines/push-pipeline-five-jobs-three-stages.json')
const id = '0f6d2a3e-7a41-4c58-9e7b-2f9f1c1b7d10'
const signals = ['traces']
const otherToken = 'whsec_ZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXp7'
const token = { 'X-Gitlab-Token': secretToken }
const unauthorized = { status: 401, json: { message: '401 Unauthorized' } }

test.each([
  ['no secret token', { secretToken }, {}, 'token_missing'],
  ['a wrong secret token', { secretToken }, { 'X-Gitlab-Token': 'not-the-secret' }, 'token_wrong'],
  ['no signature, and the right secret token', { secretToken, signingToken }, token, 'signature_missing'],
  ['a signature, and no secret token', { secretToken, signingToken }, signed(body, id), 'token_missing'],
  ['a signature by another key', { signingToken }, signed(body, id, NOW_MS, otherToken), 'signature_wrong'],
  ['a signature of another body', { signingToken }, signed(`${body} `, id), 'signature_wrong'],
  ['a signature for another id', { signingToken }, { ...signed(body, id), 'webhook-id': 'other' }, 'signature_wrong'],
  ['an old signature', { signingToken }, signed(body, id, NOW_MS - 301_000), 'timestamp_outside_window'],
  ['a signature to come', { signingToken }, signed(body, id, NOW_MS + 301_000), 'timestamp_outside_window'],
])('answers 401 to %s, and writes the reason to the log only', async (_, credential, headers, reason) => {
  await start({ sources: { forge: { ...credential, signals } } })
  expect(await receiver.post(body, headers)).toMatchObject(unauthorized)
  expect(JSON.parse(receiver.logged)).toMatchObject({
    level: 'warn',
    event: 'hooks.credential_refused',
    source: 'forge',
    address: '127.0.0.1',
    reason,
  })
  for (const shown of Object.values(headers)) expect(receiver.logged).not.toContain(shown)
  expect(await receiver.keys()).toEqual([])
})

test('accepts hooks throughout a rotation of signing tokens: old, both, new', async () => {
  await start({ sources: { forge: { signingToken: [otherToken, signingToken], signals } } })
  expect(await receiver.post(body, signed(body, id, NOW_MS, signingToken))).toMatchObject({ status: 202 })
  expect(await receiver.post(body, signed(body, id, NOW_MS, otherToken))).toMatchObject({ status: 202 })
  const both = `${signed(body, id, NOW_MS, otherToken)['webhook-signature']} v1,AAAA`
  expect(await receiver.post(body, { ...signed(body, id), 'webhook-signature': both })).toMatchObject({ status: 202 })
})

test('exports nothing for a signed request that is replayed within five minutes, and refuses it later', async () => {
  await start({ sources: { forge: { signingToken, signals } } })
  const headers = signed(body, id)
  expect(await receiver.post(body, headers)).toMatchObject({ status: 202, json: { result: 'enqueued' } })
  await receiver.clock.advance(300_000)
  expect(await receiver.post(body, headers)).toMatchObject({ status: 202, json: { result: 'kept' } })
  await receiver.clock.advance(1)
  expect(await receiver.post(body, headers)).toMatchObject(unauthorized)
})

test('answers 429 for the rest of the minute after many wrong credentials, for that address and source only', async () => {
  await start({
    sources: { forge: { secretToken, signals }, other: { secretToken, signals } },
    limits: { failuresPerMinute: 3 },
  })
  const from = (address: string, shown: string, source = 'forge') =>
    receiver.post(body, { 'X-Forwarded-For': address, 'X-Gitlab-Token': shown }, source)
  for (let failure = 0; failure < 3; failure += 1)
    expect(await from('192.0.2.1', 'wrong-wrong')).toMatchObject(unauthorized)
  const { status, headers, json } = await from('192.0.2.1', secretToken)
  // The monotonic clock of the test is 5 s after a full minute.
  expect([status, headers['retry-after'], json]).toEqual([429, '55', { message: '429 Too Many Requests' }])
  expect(await from('192.0.2.2', secretToken)).toMatchObject({ status: 202 })
  expect(await from('192.0.2.1', secretToken, 'other')).toMatchObject({ status: 202 })
  await receiver.clock.advance(55_000)
  expect(await from('192.0.2.1', secretToken)).toMatchObject({ status: 202 })
  expect(receiver.logged.match(/hooks\.credential_refused/g)).toHaveLength(1)
  expect(receiver.logged).not.toContain('wrong-wrong')
})

test('answers 404 for an unknown source', async () => {
  await start()
  expect(await receiver.post(body, token, 'other')).toMatchObject({ status: 404, json: { message: '404 Not Found' } })
  expect(await receiver.post(body, token, 'constructor')).toMatchObject({ status: 404 })
  expect(await receiver.post(body, token, 'forge/')).toMatchObject({ status: 202 })
})

test('answers 405 to other methods', async () => {
  await start()
  const request = startRequest(receiver.urlOf('forge'), { agent: false })
  request.end()
  expect(await answerTo(request)).toMatchObject({ status: 405, headers: { allow: 'POST' } })
})

test('answers 415 to a compressed body', async () => {
  await start()
  expect(await receiver.send(body, { 'Content-Encoding': 'gzip' })).toMatchObject({
    status: 415,
    json: { message: '415 Unsupported Media Type - the body must not be compressed' },
  })
})

test.each([
  ['a content length', {}],
  ['chunked encoding', { 'Transfer-Encoding': 'chunked' }],
])('answers 413 to a body that is too large, with %s', async (_, headers) => {
  await start({ limits: { bodyBytes: Buffer.byteLength(body) - 1 } })
  expect(await receiver.send(body, headers)).toMatchObject({
    status: 413,
    json: { message: '413 Payload Too Large' },
  })
  await receiver.close()
  await start({ limits: { bodyBytes: Buffer.byteLength(body) } })
  expect(await receiver.send(body, headers)).toMatchObject({ status: 202 })
})

test.each([
  ['has too many arrays and objects', '{},', 'has more than 400,000 arrays and objects'],
  ['has too many values', '0,', 'has more than 2,000,000 values'],
  ['is nested too deeply', '[', 'is nested deeper than 10,000'],
])('refuses a body that %s without parsing it, after checking its credential', async (_, piece, reason) => {
  const json = `{"a":[${piece.repeat(2_000_001)}`
  await start({ sources: { forge: { signingToken, signals } } })
  const refused = { status: 400, json: { message: `400 Bad request - ${reason}` } }
  expect(await receiver.post(json, signed(json, id))).toMatchObject(refused)
  expect(await receiver.post(json, signed('', id))).toMatchObject(unauthorized)
})

test('counts slow bodies as they arrive, and answers 503 beyond the limit of all bodies', async () => {
  const bodyBytes = Buffer.byteLength(body)
  await start({ limits: { allBodiesBytes: bodyBytes + 9 } })
  const slow = startRequest(receiver.urlOf('forge'), { method: 'POST', headers: token, agent: false })
  const answer = answerTo(slow)
  slow.write(' '.repeat(10))
  // Waits until the ten bytes have been counted; nothing is refused before.
  let refused = await receiver.send(body)
  for (let tries = 0; refused.status === 202 && tries < 200; tries += 1) refused = await receiver.send(body)
  expect(refused).toMatchObject({
    status: 503,
    headers: { 'retry-after': '1' },
    json: { message: '503 Service Unavailable' },
  })
  slow.destroy()
  await expect(answer).rejects.toThrow()
  for (let tries = 0; refused.status === 503 && tries < 200; tries += 1) refused = await receiver.send(body)
  expect(refused).toMatchObject({ status: 202 })
})

test('slow bodies of one source leave room for other sources', async () => {
  const sources = { forge: { secretToken, signals }, signing: { signingToken, signals } }
  await start({ sources, limits: { sourceBodiesBytes: Buffer.byteLength(body) + 9 } })
  // The signature can be verified only at the end of the body.
  const slow = startRequest(receiver.urlOf('signing'), { method: 'POST', headers: signed('', id), agent: false })
  const answer = answerTo(slow)
  slow.write(' '.repeat(10))
  const sendSigned = () => receiver.post(body, signed(body, id), 'signing')
  let refused = await sendSigned()
  for (let tries = 0; refused.status === 202 && tries < 200; tries += 1) refused = await sendSigned()
  expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
  expect(await receiver.send(body)).toMatchObject({ status: 202 })
  slow.destroy()
  await expect(answer).rejects.toThrow()
  for (let tries = 0; refused.status === 503 && tries < 200; tries += 1) refused = await sendSigned()
  expect(refused).toMatchObject({ status: 202 })
})

test('answers 503 while too many hooks wait for the database, and loses none that it accepted', async () => {
  await start({ exportLimits: { maxWaiting: 1, maxGroup: 1 } })
  const gate = new Gate()
  const writing = receiver.db.write(() => gate.opened)
  const allRefused = new Gate()
  let refused = 0
  const answers = Array.from({ length: 8 }, async () => {
    const answer = await receiver.send(body)
    if (answer.status === 503) refused += 1
    if (refused === 7) allRefused.open()
    return answer
  })
  // One hook is waiting.
  await allRefused.opened
  gate.open()
  await writing
  const replies = (await Promise.all(answers)).map(({ status, headers }) => `${status} ${headers['retry-after'] ?? ''}`)
  expect(replies.toSorted()).toEqual(['202 ', ...Array(7).fill('503 5')])
  expect(await receiver.keys()).toHaveLength(1)
})

test('answers 503 without its database', async () => {
  await start()
  await receiver.db.write((tx) => tx.schema.dropTable('export_records').execute())
  expect(await receiver.send(body)).toMatchObject({ status: 500, json: { message: '500 Internal Server Error' } })
  expect(receiver.logged).not.toContain(secretToken)
})
