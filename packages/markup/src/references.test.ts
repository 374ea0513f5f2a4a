import { describe, expect, test } from 'vitest'
import { referenceHtml } from './reference-links.ts'
import { findReferences, type Reference } from './references.ts'

const found = (text: string) => findReferences(text).map(({ reference }) => reference)

describe('finds', () => {
  test.each<[string, Partial<Reference>]>([
    ['See #12.', { kind: 'issue', project: undefined, iid: 12, text: '#12' }],
    ['(!3)', { kind: 'merge_request', iid: 3, text: '!3' }],
    ['ops/tools.x/web-app#4', { kind: 'issue', project: 'ops/tools.x/web-app', iid: 4, text: 'ops/tools.x/web-app#4' }],
    ['web!5', { kind: 'merge_request', project: 'web', iid: 5 }],
    ['by:@ada.', { kind: 'user', name: 'ada', text: '@ada' }],
    ['@ops/tools', { kind: 'user', name: 'ops/tools' }],
    ['~bug, ', { kind: 'label', name: 'bug', text: '~bug' }],
    ['~"needs review"', { kind: 'label', name: 'needs review', text: '~"needs review"' }],
    ['ops/web~bug', { kind: 'label', project: 'ops/web', name: 'bug' }],
    ['~priority::high', { kind: 'label', name: 'priority::high' }],
    ['#1 を', { kind: 'issue', iid: 1 }],
  ])('%j', (text, expected) => {
    expect(found(text)).toHaveLength(1)
    expect(found(text)[0]).toMatchObject(expected)
  })

  test('the places of several', () => {
    expect(findReferences('#1 and @b').map(({ at }) => at)).toEqual([0, 7])
  })
})

test.each(['#0', '#01', '# 1', '#1a', '!a', 'ada@git', '##1', '#12345678901', 'a', '~~a', '@', '&#1', '~ a'])(
  'finds nothing in %j',
  (text) => expect(found(text)).toEqual([]),
)

describe('becomes', () => {
  const issue: Reference = { kind: 'issue', project: undefined, iid: 1, text: '#1' }
  const label: Reference = { kind: 'label', project: undefined, name: '<b>', text: '~"<b>"' }

  test.each([
    [issue, { href: '/p/-/issues/1' }, '<a href="/p/-/issues/1" class="gfm gfm-issue">#1</a>'],
    [
      issue,
      { href: 'https://h.test/1', text: '#1 (closed)' },
      '<a href="https://h.test/1" class="gfm gfm-issue">#1 (closed)</a>',
    ],
    [issue, { href: '/1', title: '"<' }, '<a href="/1" class="gfm gfm-issue" title="&quot;&lt;">#1</a>'],
    [issue, { href: 'javascript:alert(1)' }, '#1'],
    [label, { href: '/x?a&b"' }, '<a href="/x?a&amp;b%22" class="gfm gfm-label">~&quot;&lt;b&gt;&quot;</a>'],
    [label, undefined, '~&quot;&lt;b&gt;&quot;'],
  ])('%j with %j', (reference, link, html) => expect(referenceHtml(reference, link)).toBe(html))
})
