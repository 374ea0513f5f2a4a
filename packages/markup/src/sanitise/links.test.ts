import { describe, expect, test } from 'vitest'
import { checkLink } from './links.ts'

const page = { url: '/groups/ops/-/wikis', page: 'guides/set up/linux' }
const own = { url: 'https://git.test/groups/ops/-/wikis/', page: 'home' }

describe('in a wiki', () => {
  test.each([
    ['home', '/groups/ops/-/wikis/home'],
    ['/home', '/groups/ops/-/wikis/home'],
    ['guides/set-up?a=b#c', '/groups/ops/-/wikis/guides/set-up?a=b#c'],
    ['./debian', '/groups/ops/-/wikis/guides/set%20up/debian'],
    ['../intro', '/groups/ops/-/wikis/guides/intro'],
    ['../../../../../admin', '/groups/ops/-/wikis/admin'],
    ['map.png', '/groups/ops/-/wikis/guides/set%20up/map.png'],
    ['/map.png', '/groups/ops/-/wikis/map.png'],
    ['uploads/0c1d/map.png', '/groups/ops/-/wikis/uploads/0c1d/map.png'],
    ['/groups/ops/-/wikis/home', '/groups/ops/-/wikis/home'],
    ['#part', '#part'],
    ['.//evil.test', '/groups/ops/-/wikis/guides/set%20up//evil.test'],
    ['./javascript:alert(1)', '/groups/ops/-/wikis/guides/set%20up/javascript:alert(1)'],
  ])('%s → %s', (address, href) => expect(checkLink(address, page)).toEqual({ href, isExternal: false }))
})

describe('with a host', () => {
  test.each([
    ['home', 'https://git.test/groups/ops/-/wikis/home', false],
    ['https://git.test/other', 'https://git.test/other', false],
    ['HTTPS://Other.test', 'https://other.test/', true],
    ['//other.test/x', 'https://other.test/x', true],
    ['mailto:ada@git.test', 'mailto:ada@git.test', false],
  ])('%s → %s', (address, href, isExternal) => expect(checkLink(address, own)).toEqual({ href, isExternal }))
})

describe('without a base', () => {
  test.each([
    ['a/b', './a/b'],
    ['/a', '/a'],
    ['.//evil.test', './evil.test'],
    ['./javascript:alert(1)', './javascript:alert(1)'],
  ])('%s → %s', (address, href) => expect(checkLink(address, undefined)).toEqual({ href, isExternal: false }))
})

test.each([
  'javascript:alert(1)',
  'java\nscript:alert(1)',
  ' javascript:alert(1)',
  'data:text/html,x',
  'ftp://a.test',
  'http://user:secret@a.test',
  'http://[',
])('refuses %j', (address) => expect(checkLink(address, page)).toBeUndefined())
