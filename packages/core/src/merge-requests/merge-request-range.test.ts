import { expect, test } from 'vitest'
import type { HistoryHeader } from '../repositories/history.ts'
import { rangeOf, rememberedCommits } from './merge-request-range.ts'

/** A history as `id: parents`, each commit a second after the one before it. */
function historyOf(commits: Readonly<Record<string, readonly string[]>>, atSeconds = (index: number) => index) {
  const known = new Map(
    Object.entries(commits).map(([oid, parents], index) => {
      const signature = { name: 'x', email: 'x@example.test', atSeconds: atSeconds(index), offsetMinutes: 0 }
      const commit: HistoryHeader = {
        oid,
        parents,
        tree: `tree of ${oid}`,
        author: signature,
        committer: signature,
      }
      return [oid, commit]
    }),
  )
  let left = Infinity
  return {
    commits: known,
    most: (commitsRead: number) => {
      left = commitsRead
    },
    range: async (headSha: string, startSha: string) => {
      const read = async (oid: string) => {
        left -= 1
        return left < 0 ? undefined : known.get(oid)
      }
      const range = await rangeOf(read, { headSha, startSha })
      return range && [range.commits.map(({ oid }) => oid), range.base?.oid]
    },
  }
}

const linear = { a: [], b: ['a'], c: ['b'], d: ['b'], e: ['d'] }

test.each([
  ['what came after the two parted, newest first', linear, 'e', 'c', [['e', 'd'], 'b']],
  ['of one that has everything of the other', linear, 'e', 'b', [['e', 'd'], 'b']],
  ['of one that is behind the other: nothing', linear, 'b', 'e', [[], 'b']],
  ['of one and the same', linear, 'c', 'c', [[], 'c']],
  ['with nothing in common', { a: [], b: ['a'], x: [], y: ['x'] }, 'y', 'b', [['y', 'x'], undefined]],
  [
    'with a merge of the other branch: what came from there is not of the branch',
    { a: [], b: ['a'], c: ['a'], d: ['b', 'c'], e: ['d'], f: ['c'] },
    'e',
    'f',
    [['e', 'd', 'b'], 'c'],
  ],
])('%s', async (_, commits, head, start, expected) => {
  expect(await historyOf(commits).range(head, start)).toEqual(expected)
})

test('commits that are older than what they came from', async () => {
  const { range } = historyOf(linear, (index) => 100 - index)
  expect(await range('e', 'c')).toEqual([['e', 'd'], 'b'])
})

test('nothing beyond the budget', async () => {
  const { range, most } = historyOf(linear)
  most(3)
  expect(await range('e', 'c')).toBeUndefined()
  most(4)
  expect(await range('e', 'c')).toEqual([['e', 'd'], 'b'])
})

test('what is remembered is not gone through again without end', async () => {
  const commits = historyOf(linear).commits
  const budget = { commits: 10, steps: 6 }
  const read = rememberedCommits({ commitHeader: async (oid) => commits.get(oid)! }, budget)
  expect(await rangeOf(read, { headSha: 'e', startSha: 'c' })).toMatchObject({ commits: [{ oid: 'e' }, { oid: 'd' }] })
  expect(await rangeOf(read, { headSha: 'e', startSha: 'c' })).toBeUndefined()
})
