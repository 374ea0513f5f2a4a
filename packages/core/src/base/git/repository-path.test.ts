import { describe, expect, test } from 'vitest'
import { isRefName, segmentsOf } from './repository-path.ts'

describe('paths of files', () => {
  test.each([
    'README.md',
    'a/b/c.txt',
    '.gitignore',
    '.gitmodules',
    'a/.gitattributes',
    '.gitmodules.md/x',
    '.github/x',
    'a b/ü🚀',
    '-x',
    'a..b',
    '.gitea',
    'git',
    'a:b',
    'a\\b',
    '...',
  ])('accepts the path %s', (path) => {
    expect(segmentsOf(path)).toEqual(path.split('/'))
  })

  test('ignores a slash at the beginning', () => {
    expect(segmentsOf('/a/b')).toEqual(['a', 'b'])
  })

  test.each([
    '',
    '/',
    'a//b',
    'a/',
    '..',
    '../x',
    'a/../b',
    './a',
    '.git/config',
    'a/.GIT/hooks/x',
    '.git',
    '.git.',
    '.git ',
    '.g\u200cit/x',
    'GIT~1/x',
    '.git::$INDEX_ALLOCATION/x',
    '.gitmodules/x',
    'a/.GitModules/x',
    '.gitmod\u200cules/x',
    '.gitmodules ./x',
    '.gitmodules:a/x',
    'GITMOD~1/x',
    'gi7eba~9/x',
    'a/.gitattributes/b/c',
    'GITATT~4/x',
    'gi7d29~1/x',
    'a\\.git\\config',
    'a\\..\\x',
    '..\\x',
    'a\\.',
    'a\\.. \\x',
    'a\\.\u200c.\\x',
    'b/a\\..\\..\\x',
    '\\x',
    '\\\\server\\x',
    'a\nb',
    'a\0b',
    'a\u007fb',
    'a\ud800b',
    'x'.repeat(256),
    `${'x/'.repeat(100)}x`,
    `${'x'.repeat(200)}/`.repeat(25),
  ])('rejects the path %j', (path) => {
    expect(segmentsOf(path)).toBeUndefined()
  })
})

describe('names of branches and tags', () => {
  test.each(['main', 'feature/x', 'v1.0', 'a-b_c', 'ü', 'a.b', 'deadbeef', 'a@b', 'head'])(
    'accepts the name %s',
    (name) => {
      expect(isRefName(name)).toBe(true)
    },
  )

  test.each([
    '',
    'a b',
    'a..b',
    '../x',
    '/a',
    'a/',
    'a//b',
    '-a',
    'a.',
    '.a',
    'a/.b',
    'a.lock',
    'a.lock/b',
    'a~b',
    'a^b',
    'a:b',
    'a?b',
    'a*b',
    'a[b',
    'a\\b',
    '@',
    'HEAD',
    'a@{b',
    'a\nb',
    'refs/heads/x',
    'a'.repeat(40),
    'x'.repeat(201),
  ])('rejects the name %j', (name) => {
    expect(isRefName(name)).toBe(false)
  })
})
