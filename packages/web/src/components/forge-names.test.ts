import { expect, test } from 'vitest'
import { commitUrl, forgeLook } from './forge-names.ts'

test.each([
  ['github', 'GitHub', 'GH'],
  ['svc', 'svc', 'SV'],
  ['<b>', '<b>', 'B'],
  ['constructor', 'constructor', 'CO'],
  ['–', '–', '?'],
])('the look of %s', (forge, label, mark) => {
  expect(forgeLook(forge)).toEqual({ label, mark })
})

const sha = '70e3f630d6c993cfe4c6eee271c920d95bed1464'

test.each([
  ['github', 'https://github.com/a/b', undefined, `https://github.com/a/b/commit/${sha}`],
  ['gitea', 'https://git.example/a/b/', undefined, `https://git.example/a/b/commit/${sha}`],
  ['svc', 'https://ci.example/a/b', 'https://ci.example/a/b/-/pipelines/7', `https://ci.example/a/b/-/commit/${sha}`],
  ['buildkite', 'https://bitbucket.org/a/b', undefined, `https://bitbucket.org/a/b/commits/${sha}`],
  ['jenkins', 'https://git.example/a/b', undefined, undefined],
  ['constructor', 'https://git.example/a/b', undefined, undefined],
  ['github', 'no url', undefined, undefined],
])('the page of a commit of %s at %s', (forge, projectUrl, runUrl, url) => {
  expect(commitUrl({ forge, projectUrl, runUrl, sha })).toBe(url)
})

test('a revision that is no hash has no page', () => {
  expect(commitUrl({ forge: 'github', projectUrl: 'https://github.com/a/b', runUrl: undefined, sha: '../x' })).toBe(
    undefined,
  )
})
