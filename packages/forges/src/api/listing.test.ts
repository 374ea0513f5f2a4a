import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { RecordError } from '../record/record-error.ts'
import { type ListPage, listAll, listByCursor, listChanging } from './listing.ts'

/** A list that changes between requests. `before(n)` is called before request number `n`, counted from 0. */
class ChangingList {
  requests = 0
  ids: readonly number[]
  readonly #perPage: number
  readonly #before: (list: ChangingList, request: number) => void

  constructor(
    ids: readonly number[],
    perPage: number,
    before: (list: ChangingList, request: number) => void = () => {},
  ) {
    this.ids = ids
    this.#perPage = perPage
    this.#before = before
  }

  async page(number: number): Promise<ListPage> {
    this.#before(this, this.requests++)
    const end = number * this.#perPage
    const items = this.ids.slice(end - this.#perPage, end).map((id) => ({ id: String(id), value: {} }))
    return { items, total: this.ids.length, isLast: end >= this.ids.length, bytes: 0 }
  }
}

async function idsOf(list: Pick<ChangingList, 'page'>, maxItems = 1_000): Promise<number[]> {
  const ids: number[] = []
  const options = { path: '/list', fetch: (number: number) => list.page(number), maxItems }
  for await (const { items } of listChanging(options)) ids.push(...items.map(({ id }) => Number(id)))
  return ids
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1)

describe('a list that changes during reading', () => {
  test('an unchanged list: each page is read once, and again after the next page', async () => {
    const list = new ChangingList(upTo(25), 10)
    expect(await idsOf(list)).toEqual(upTo(25))
    expect(list.requests).toBe(5)
  })

  test('items that deletions move to earlier pages are found', async () => {
    const list = new ChangingList(upTo(40), 10, (each, request) => {
      if (request === 1) each.ids = each.ids.filter((id) => id > 7)
    })
    expect(await idsOf(list)).toEqual(upTo(40))
  })

  test('deletions of several pages at once', async () => {
    const list = new ChangingList(upTo(90), 10, (each, request) => {
      if (request === 5) each.ids = each.ids.filter((id) => id > 28)
    })
    expect(await idsOf(list)).toEqual(upTo(90))
  })

  test('items that exist from beginning to end are yielded once, however other items change', async () => {
    const change = fc.record({
      request: fc.nat(30),
      removed: fc.array(fc.nat(60), { maxLength: 25 }),
      added: fc.nat(3),
    })
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 7 }), fc.array(change, { maxLength: 8 }), async (perPage, changes) => {
        let next = 61
        const list = new ChangingList(upTo(60), perPage, (each, request) => {
          for (const { removed, added } of changes.filter((one) => one.request === request)) {
            const left = each.ids.filter((id) => !removed.includes(id))
            each.ids = [...left, ...Array.from({ length: added }, () => next++)]
          }
        })
        const ids = await idsOf(list)
        expect(new Set(ids).size).toBe(ids.length)
        expect(list.ids.filter((id) => id <= 60 && !ids.includes(id))).toEqual([])
      }),
      { numRuns: 500 },
    )
  })
})

describe('a list that does not end', () => {
  const endless = (items: (page: number) => readonly number[]) => ({
    requests: 0,
    async page(number: number): Promise<ListPage> {
      this.requests += 1
      return {
        items: items(number).map((id) => ({ id: String(id), value: {} })),
        total: undefined,
        isLast: false,
        bytes: 0,
      }
    },
  })
  const repeated = new RecordError('', '/list: the forge repeats its pages endlessly')

  test('every page is the first', async () => {
    const list = endless(() => [1, 2, 3])
    await expect(idsOf(list)).rejects.toThrow(repeated)
    expect(list.requests).toBeLessThan(12)
  })

  test('each page has more items', async () => {
    const list = endless((page) => [page * 2, page * 2 + 1])
    await expect(idsOf(list, 50)).rejects.toThrow(
      new RecordError('', '/list: the list has more than 50 items or does not end'),
    )
  })

  test('of jobs', async () => {
    const list = endless(() => [3, 2, 1])
    const options = { path: '/list', fetch: (number: number) => list.page(number), maxItems: 50 }
    await expect(listAll(options)).rejects.toThrow(repeated)
  })
})

describe('a list with pages that name the next one', () => {
  const idsOfCursors = async (page: (cursor: string | undefined) => { ids: readonly number[]; next?: string }) => {
    let requests = 0
    const fetch = async (cursor: string | undefined) => {
      if (++requests > 100) throw new Error('endless')
      const { ids, next } = page(cursor)
      return { items: ids.map((id) => ({ id: String(id), value: {} })), next, bytes: 0 }
    }
    const found: string[] = []
    for await (const { items } of listByCursor({ path: '/list', fetch, maxItems: 10 })) {
      found.push(...items.map(({ id }) => id))
    }
    return found
  }

  test('is read to its end, each item once, also after an empty page', async () => {
    const pages = [{ ids: [1, 2], next: '1' }, { ids: [], next: '2' }, { ids: [2, 3] }]
    expect(await idsOfCursors((cursor) => pages[Number(cursor ?? 0)]!)).toEqual(['1', '2', '3'])
  })

  test.each([
    ['empty pages', []],
    ['the same items', [1, 2]],
  ])('is refused if it sends %s with new names for ever', async (_, ids) => {
    await expect(idsOfCursors((cursor) => ({ ids, next: `${cursor}.` }))).rejects.toThrow('repeats its pages')
  })

  test('is refused if it has too many items', async () => {
    const endless = (cursor = '0') => ({ ids: [Number(cursor)], next: String(Number(cursor) + 1) })
    await expect(idsOfCursors(endless)).rejects.toThrow('more than 10 items')
  })
})
