import { afterEach, beforeEach, expect, test } from 'vitest'
import { serveStore } from '../served-store.harness.ts'
import { logBody, logRecord, toTraceId } from '../telemetry.harness.ts'

let served: Awaited<ReturnType<typeof serveStore>>

beforeEach(async () => {
  served = await serveStore()
})
afterEach(() => served.close())

const keep = (...records: readonly object[]) => served.store.receiveBody('logs', logBody('shop', ...records), 'json')
const bodies = (json: { record: { body: { stringValue: string } } }[]) =>
  json.map(({ record }) => record.body.stringValue)
const search = async (text: string, more = '') =>
  bodies((await served.get(`/logs?q=${encodeURIComponent(text)}${more}`)).json)

test('finds a text in the body in any case, and nowhere else', async () => {
  const attributes = [{ key: 'note', value: { stringValue: 'payment refused' } }]
  await keep(
    logRecord(1, 9, 'Payment REFUSED by card'),
    logRecord(2, 9, 'accepted', { attributes }),
    logRecord(3, 17, 'payment refused again'),
  )
  expect(await search('payment refused')).toEqual(['payment refused again', 'Payment REFUSED by card'])
  expect(await search('payment refused', '&severity=error')).toEqual(['payment refused again'])
  expect(await search('payment refused', '&service=other')).toEqual([])
})

test.each([
  ['100 %', 'done: 100 % of 3'],
  ['a_b', 'value a_b'],
  ['say "hi"', 'they say "hi" now'],
  ['C:\\temp', 'open C:\\temp\\x'],
  ['grüße', 'Viele GRÜSSE, viele GRÜßE'],
  ['日本', 'ログ 日本'],
  ['two\nlines', 'has two\nlines'],
  ['</script>', '<b></SCRIPT>'],
])('finds %j', async (text, body) => {
  await keep(logRecord(1, 9, body), logRecord(2, 9, 'a1b 1000 other C:temp'))
  expect(await search(text)).toEqual([body])
})

test.each([
  ['after NUL', 'before \u0000 after NUL'],
  ['at the end', `${'long '.repeat(400)} at the end`],
])('finds %j in a body that has no text in the index', async (text, body) => {
  await keep(logRecord(1, 9, body), logRecord(2, 9, 'other'))
  expect(await search(text)).toEqual([body])
})

test('searches a body that is not a text as JSON', async () => {
  const body = { kvlistValue: { values: [{ key: 'order', value: { stringValue: 'lamp' } }] } }
  await keep(logRecord(1, 9, '', { body }))
  expect((await served.get('/logs?q=LAMP')).json).toMatchObject([{ record: { body } }])
})

test('selects the records of a span', async () => {
  const ids = (spanId: string) => ({ traceId: toTraceId(1), spanId })
  await keep(logRecord(1, 9, 'one', ids('a'.repeat(16))), logRecord(2, 9, 'two', ids('b'.repeat(16))))
  const { json } = await served.get(`/logs?trace_id=${toTraceId(1)}&span_id=${'A'.repeat(16)}`)
  expect(bodies(json)).toEqual(['one'])
  expect(await search('TW', `&span_id=${'b'.repeat(16)}`)).toEqual(['two'])
  expect(await search('one', `&span_id=${'b'.repeat(16)}`)).toEqual([])
})

test('pages through matches with equal times, and loses none', async () => {
  const records = Array.from({ length: 25 }, (_, index) =>
    logRecord(1, 9, `${index % 2 === 0 ? 'even' : 'odd'} ${index}`),
  )
  await keep(...records)
  const found: string[] = []
  let cursor: string | null = ''
  for (let pages = 0; cursor !== null; pages += 1) {
    expect(pages).toBeLessThan(10)
    const page = await served.get(`/logs?q=EVEN&limit=4${cursor === '' ? '' : `&cursor=${cursor}`}`)
    found.push(...bodies(page.json))
    cursor = page.headers.get('x-next-cursor')
  }
  expect(found).toEqual(Array.from({ length: 13 }, (_, index) => `even ${24 - index * 2}`))
})

test.each(['q=', `q=${'x'.repeat(201)}`, 'span_id=12', 'q=a&q=b'])('refuses %s', async (query) => {
  expect((await served.get(`/logs?${query}`)).status).toBe(400)
})
