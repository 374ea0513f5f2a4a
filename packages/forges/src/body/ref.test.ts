import { expect, test } from 'vitest'
import { requestNumberInRef, tagInRef } from './ref.ts'

test.each([
  ['refs/tags/v1', 'v1', undefined],
  ['refs/heads/main', undefined, undefined],
  ['refs/pull/7/merge', undefined, 7n],
  ['refs/merge-requests/12/head', undefined, 12n],
  ['refs/pull/0/merge', undefined, undefined],
  [undefined, undefined, undefined],
])('%s', (ref, tag, number) => {
  expect(tagInRef(ref)).toBe(tag)
  expect(requestNumberInRef(ref)).toBe(number)
})
