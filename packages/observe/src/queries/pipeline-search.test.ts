import { afterEach, beforeEach, expect, test } from 'vitest'
import { pipelineBody } from '../pipeline.harness.ts'
import { serveStore } from '../served-store.harness.ts'
import { searchRuns } from './pipeline-search.ts'

let served: Awaited<ReturnType<typeof serveStore>>

beforeEach(async () => {
  served = await serveStore()
})
afterEach(() => served.close())

const keep = async (number: number, attributes: Record<string, string> = {}) => {
  await served.store.receiveBody('traces', pipelineBody({ number, attributes }), 'json')
}
const ids = (json: { pipeline_id: string }[]) => json.map(({ pipeline_id }) => pipeline_id)
const search = async (text: string, more = '') =>
  ids((await served.get(`/pipelines?q=${encodeURIComponent(text)}${more}`)).json)

test.each([
  ['MOSS/sh', { 'vcs.repository.url.full': 'https://forge.example/moss/shop' }],
  ['basket-', { 'vcs.ref.head.name': 'Fix-Basket-Total' }],
  ['round half', { 'pipeline.commit.message': 'Round HALF to even\n\nas banks do' }],
  ['NOOR', { 'pipeline.user.username': 'noor_alamin' }],
  ['nightly', { 'cicd.pipeline.name': 'Nightly build' }],
  ['100 %', { 'pipeline.commit.message': 'cover 100 % of it' }],
  ['a_b', { 'vcs.ref.head.name': 'a_b' }],
  ['c:\\temp', { 'pipeline.commit.message': 'open C:\\temp\\x' }],
  ['grüße', { 'pipeline.commit.message': 'Viele GRÜßE' }],
  ['日本', { 'pipeline.commit.message': 'ログ 日本' }],
])('finds %j in the texts of a run, in any case', async (text, attributes) => {
  const elsewhere = { 'vcs.owner.name': 'other', 'vcs.repository.url.full': 'https://forge.example/other/a1b' }
  await keep(1, { ...elsewhere, 'vcs.ref.head.revision': text, 'pipeline.commit.message': `first line\n${text}` })
  await keep(2, { ...elsewhere, ...attributes })
  expect(await search(text)).toEqual(text === 'MOSS/sh' ? [] : ['2'])
  await keep(3, { ...attributes, 'cicd.pipeline.result': 'failure' })
  expect(await search(text, '&status=failed')).toEqual(['3'])
  expect(await search(text, '&service=unknown')).toEqual([])
})

test('pages through matches with equal starts, and loses none', async () => {
  for (let number = 1; number <= 9; number += 1) {
    const attributes = { 'vcs.ref.head.name': number % 2 === 0 ? 'even' : 'odd' }
    await served.store.receiveBody('traces', pipelineBody({ number, start: 5n, attributes }), 'json')
  }
  const found: string[] = []
  let cursor: string | null = ''
  for (let pages = 0; cursor !== null; pages += 1) {
    expect(pages).toBeLessThan(9)
    const page = await served.get(`/pipelines?q=ODD&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)
    found.push(...ids(page.json))
    cursor = page.headers.get('x-next-cursor')
  }
  expect(found).toEqual(['9', '7', '5', '3', '1'])
})

test('ends a search when its time is over, and goes on from there', async () => {
  for (let number = 1; number <= 3; number += 1) await keep(number)
  const db = served.store.database
  const all: Parameters<typeof searchRuns>[2] = (eb) => eb.and([eb('run.is_child', '=', 0)])
  let nowMs = 0
  const now = () => (nowMs += 200)
  const first = await searchRuns(db, 'shop', all, { limit: 9, after: undefined, now })
  expect(first).toMatchObject({ ids: [3, 2], isLate: true })
  expect(await searchRuns(db, 'shop', all, { limit: 9, after: first.next })).toEqual({
    ids: [1],
    next: undefined,
    isLate: false,
  })
})

test.each(['q=', `q=${'x'.repeat(201)}`, 'q=a&q=b'])('refuses %s', async (query) => {
  expect((await served.get(`/pipelines?${query}`)).status).toBe(400)
})
