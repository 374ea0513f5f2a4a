import { expect, test } from 'vitest'
import { cachedCommitReader, rangeOf } from './commit-range.ts'
import type { HistoryHeader } from './history.ts'

/** Creates a history from `id: parents`, with one second between commits. */
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
    limitReads: (commitsRead: number) => {
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
  ['two branches that diverged: the commits since then, newest first', linear, 'e', 'c', [['e', 'd'], 'b']],
  ['a branch that contains the other', linear, 'e', 'b', [['e', 'd'], 'b']],
  ['a branch that the other contains: none', linear, 'b', 'e', [[], 'b']],
  ['a branch and itself: none', linear, 'c', 'c', [[], 'c']],
  ['unrelated histories', { a: [], b: ['a'], x: [], y: ['x'] }, 'y', 'b', [['y', 'x'], undefined]],
  [
    'a branch into which the other was merged: without the merged commits',
    { a: [], b: ['a'], c: ['a'], d: ['b', 'c'], e: ['d'], f: ['c'] },
    'e',
    'f',
    [['e', 'd', 'b'], 'c'],
  ],
])('returns the commits of %s', async (_, commits, head, start, expected) => {
  expect(await historyOf(commits).range(head, start)).toEqual(expected)
})

test('handles commits that are older than their parents', async () => {
  const { range } = historyOf(linear, (index) => 100 - index)
  expect(await range('e', 'c')).toEqual([['e', 'd'], 'b'])
})

test('finds the ancestor of a commit that was made in the same second', async () => {
  const { range } = historyOf(linear, () => 100)
  expect(await range('b', 'e')).toEqual([[], 'b'])
  expect(await range('e', 'b')).toEqual([['e', 'd'], 'b'])
  expect(await range('e', 'c')).toEqual([['e', 'd'], 'b'])
})

test('returns nothing when the budget of reads is used up', async () => {
  const { range, limitReads } = historyOf(linear)
  limitReads(3)
  expect(await range('e', 'c')).toBeUndefined()
  limitReads(4)
  expect(await range('e', 'c')).toEqual([['e', 'd'], 'b'])
})

test('limits the steps through cached commits too', async () => {
  const commits = historyOf(linear).commits
  const budget = { commits: 10, steps: 6 }
  const read = cachedCommitReader({ commitHeader: async (oid) => commits.get(oid)! }, budget)
  expect(await rangeOf(read, { headSha: 'e', startSha: 'c' })).toMatchObject({ commits: [{ oid: 'e' }, { oid: 'd' }] })
  expect(await rangeOf(read, { headSha: 'e', startSha: 'c' })).toBeUndefined()
})
