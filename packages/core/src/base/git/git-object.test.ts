import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { signatureTime } from '../../code/repositories/commit.ts'
import { commitBytes, commitOf, modes, tagBytes, tagOf, treeBytes, treeOf } from './git-object.ts'

const oids = fc.stringMatching(/^[0-9a-f]{40}$/)
const words = fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => text.replace(/[<>\p{C}]/gu, '').trim())
const signatures = fc.record({
  name: words,
  email: words,
  atSeconds: fc.nat(),
  offsetMinutes: fc.integer({ min: -720, max: 840 }),
})

test('commits and tags are decoded as they were encoded', () => {
  const messages = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\0', ''))
  const commits = fc.record({
    tree: oids,
    parents: fc.array(oids),
    author: signatures,
    committer: signatures,
    message: messages,
  })
  fc.assert(fc.property(commits, (commit) => void expect(commitOf(commitBytes(commit))).toEqual(commit)))
  const tags = fc.record({ target: oids, name: fc.stringMatching(/^[a-z]+$/), tagger: signatures, message: messages })
  fc.assert(fc.property(tags, (tag) => void expect(tagOf(tagBytes(tag))).toEqual(tag)))
})

test('characters that would end a name, an address or a line are dropped', () => {
  const author = { name: 'A\nparent x', email: 'a>b@c', atSeconds: 1, offsetMinutes: -210 }
  const commit = { tree: '0'.repeat(40), parents: [], author, committer: author, message: 'x' }
  expect(commitBytes(commit).toString()).toContain('author Aparent x <ab@c> 1 -0330\n')
})

test.each(['\u2028', '\u2029', '\r'])(
  'an author name can contain %j, which does not end a line for Git',
  (separator) => {
    const text = `tree ${'0'.repeat(40)}\nauthor a${separator}b <a${separator}@b> 1 +0000\ncommitter c <c> 1 +0000\n\nx`
    expect(commitOf(Buffer.from(text)).author).toMatchObject({ name: `a${separator}b`, email: `a${separator}@b` })
  },
)

test('a tree is encoded in the order that Git requires', () => {
  const gitdir = mkdtempSync(join(tmpdir(), 'penstock-tree-'))
  onTestFinished(() => rmSync(gitdir, { recursive: true }))
  const git = (input: Buffer | string, ...args: string[]) =>
    execFileSync('git', ['--git-dir', gitdir, ...args], { input, encoding: 'utf8' }).trim()
  git('', 'init', '--bare', '--quiet', gitdir)
  const blob = git('x', 'hash-object', '-w', '--stdin')
  const empty = git('', 'mktree')
  const entries = [
    { name: 'a', mode: modes.tree, oid: empty },
    { name: 'a.b', mode: modes.file, oid: blob },
    { name: 'a0', mode: modes.executable, oid: blob },
    { name: '\uff5e', mode: modes.file, oid: blob },
    { name: '🚀', mode: modes.file, oid: blob },
  ]
  const oid = git(treeBytes(entries), 'hash-object', '-t', 'tree', '-w', '--stdin')
  expect(git('', 'fsck', '--strict', oid)).toBe('')
  expect(treeOf(treeBytes(entries)).map(({ name }) => name)).toEqual(['a.b', 'a', 'a0', '\uff5e', '🚀'])
})

test.each([
  { offsetMinutes: 0, expected: '2026-02-03T04:05:06.000+00:00' },
  { offsetMinutes: 120, expected: '2026-02-03T06:05:06.000+02:00' },
  { offsetMinutes: -210, expected: '2026-02-03T00:35:06.000-03:30' },
])('the time of a commit with an offset of $offsetMinutes minutes is $expected', ({ offsetMinutes, expected }) => {
  expect(signatureTime({ name: '', email: '', atSeconds: 1_770_091_506, offsetMinutes })).toBe(expected)
})
