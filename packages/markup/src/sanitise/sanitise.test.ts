import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hostileHtml } from '../hostile-html.harness.ts'
import { defaultLimits } from './limits.ts'
import type { LinkBase } from './links.ts'
import { parseHtml, sanitise } from './sanitise.ts'

const bases: (LinkBase | undefined)[] = [
  undefined,
  { url: '/groups/ops/-/wikis', page: 'guides/set-up' },
  { url: 'https://git.test/groups/ops/-/wikis', page: 'home' },
]
const clean = (html: string, base?: LinkBase) => sanitise(parseHtml(html), { base, limits: defaultLimits }).html

/** HTML in which tags overlap, attributes are broken, and texts look like tags. */
const brokenHtml = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...[
          '<a href="x">',
          '</a>',
          '<p>',
          '</p>',
          '<b>',
          '</b>',
          '<table>',
          '<tr>',
          '<td>',
          '</table>',
          '<pre>',
          '\n\n',
        ],
        ...[
          '<svg>',
          '<math>',
          '<mtext>',
          '<style>',
          '</style>',
          '<!--',
          '-->',
          '<li>',
          '<ul>',
          '</ul>',
          '<form>',
          '<h1>',
        ],
        ...[
          '<template>',
          '<noscript>',
          '<select>',
          '<option>',
          '<textarea>',
          '</textarea>',
          '<title>',
          '<object>',
          '<dl>',
        ],
        ...[
          '<details>',
          '<summary>',
          '<button>',
          '<caption>',
          '<col>',
          '<input type=checkbox>',
          '<div',
          ' id="a"',
          '>',
        ],
        ...['<img src="./a b.png">', '<a href="../x?y#z">', '<a href="#a">', '<a href="//h.test/x">', '<font color=x>'],
        ...[
          '&lt;script&gt;',
          '&amp;lt;',
          '"',
          "'",
          '\u0000',
          '<ruby>',
          '<rt>',
          '<nobr>',
          '<hr>',
          '</br>',
          '</p>',
          '<dd>',
        ],
      ),
      fc.constantFrom(...hostileHtml),
      fc.string({ maxLength: 5 }),
    ),
    { maxLength: 30 },
  )
  .map((pieces) => pieces.join(''))

test('sanitising twice changes nothing, so a browser reads the tree that was checked', () => {
  fc.assert(
    fc.property(brokenHtml, fc.constantFrom(...bases), (html, base) => {
      const once = clean(html, base)
      expect(clean(once, base)).toBe(once)
    }),
    { numRuns: 500 },
  )
})

describe('keeps', () => {
  test.each([
    ['<p>a <strong>b</strong> <code class="language-ruby">c</code></p>'],
    ['<table><thead><tr><th align="right" colspan="2">a</th></tr></thead><tbody><tr><td>b</td></tr></tbody></table>'],
    ['<details open><summary>a</summary><p>b</p></details>'],
    ['<ol start="3" type="a"><li value="4">a</li></ol>'],
    ['<dl><dt>a</dt><dd>b</dd></dl>'],
    ['<p dir="rtl" lang="ar">a</p>'],
    ['<audio src="/a.mp3" controls preload="none"></audio>'],
  ])('%s', (html) => expect(clean(html)).toBe(html))
})

describe('changes', () => {
  test.each([
    [
      '<p id="top" name="x">a</p><a href="#top">b</a>',
      '<p id="user-content-top">a</p><a href="#user-content-top">b</a>',
    ],
    ['<font color="red">a</font>', 'a'],
    ['<input type="text" value="a">', '<input type="checkbox" disabled>'],
    ['<pre>\n\na</pre>', '<pre>\n\na</pre>'],
    ['<tr><td>a</td></tr>', 'a'],
    ['<a href="x" target="_top" rel="opener">a</a>', '<a href="./x">a</a>'],
  ])('%s', (html, expected) => expect(clean(html)).toBe(expected))
})
