import { expect, test } from 'vitest'
import { issueReferencesIn } from './issue-references.ts'

const HOME = 'https://svc.example.test'
/** Returns the references as text, closing ones with a mark. */
const found = (text: string) =>
  issueReferencesIn(text, HOME).map(({ project = '', iid, isClosing }) => `${project}#${iid}${isClosing ? '!' : ''}`)

test.each([
  ['Closes #4', '#4!'],
  ['closed: #4, #5 and #6. See #7', '#4!,#5!,#6!,#7'],
  ['Fixes issue #1, and issues #2', '#1!,#2!'],
  ['Resolving ops/tools#12 and garden#3', 'ops/tools#12!,garden#3!'],
  [`Implements ${HOME}/ops/tools/-/issues/9`, 'ops/tools#9!'],
  ['Related to #4; prefixes #5', '#4,#5'],
  ['Fix #1\nAdd #2', '#1!,#2'],
  ['#12a is none, nor is a.b/#1x or word#', ''],
  ['`Closes #1` and\n```\nCloses #2\n```\nbut #3', '#3'],
  ['https://elsewhere.example.test/ops/tools/-/issues/9', ''],
  ['closes #1234567890', ''],
])('finds references: %s', (text, expected) => {
  expect(found(text).join()).toBe(expected)
})

test('reads a long text once, and a limited number of references', () => {
  expect(issueReferencesIn('closes #1 '.repeat(5_000))).toHaveLength(1_000)
  expect(found('a/'.repeat(500_000))).toEqual([])
  expect(found(`${HOME}/a/`.repeat(40_000))).toEqual([])
})
