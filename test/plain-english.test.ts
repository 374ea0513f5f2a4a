import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { hardToRead, textFiles } from '../packages/toolchain/plain-english.mjs'

/** What a file may contain in spite of the rule. Another wording is better; a new row needs a good reason. */
interface Allowance {
  readonly file: string
  readonly found: string
  readonly count: number
  readonly reason: string
}

const allowances: readonly Allowance[] = []

describe('hardToRead', () => {
  test.each([
    ['a word', 'The server is told the end.', ['told']],
    ['a word at the start of a sentence', 'Nobody reads it.', ['Nobody']],
    ['two words', 'as so many others', ['so many']],
    ['a phrase', 'It counts as one; meanwhile `*` stands for all.', ['counts as', 'meanwhile', 'stands for']],
    ['the start of a camelCase name', 'const whoseToken = toldNames', ['whose', 'told']],
    ['a part of a camelCase name', 'const tokenOfNobody = isTold(hash)', ['Nobody', 'Told']],
    ['a part of a snake_case name', 'sent_by_nobody, anew_read', ['nobody', 'anew']],
    ['each occurrence', 'told, told', ['told', 'told']],
  ])('finds %s', (_, text, found) => {
    expect(hardToRead(text)).toEqual(found.map((word) => ({ line: 1, found: word, kind: 'word' })))
  })

  test.each([
    ['/** Of each, in order. */', 'Of'],
    ['/** What it sends. */', 'What'],
    ['/** For what it is used. */', 'For what'],
    ['/**\n * With a token.\n */', 'With'],
    ['/**By id. */', 'By'],
    ['/** From a file. */', 'From'],
    ['/** Says whether it is read. */', 'Says whether'],
  ])('finds the first word of the doc comment %j', (text, found) => {
    expect(hardToRead(text)).toEqual([{ line: 1, found, kind: 'doc comment' }])
  })

  test.each([
    ['longer words', 'threshold, wholesome, foretold, amended, unheeded, nobodyhere'],
    ['longer parts of a name', 'const isThreshold = hasToldest'],
    ['doc comments with these words in another place', '/** Returns one of each, by id, with what it sends. */'],
    ['doc comments that begin with a longer word', '/** Offset in bytes. */ /** Without a token. */'],
    ['other comments', '/* Of each. */ // What it sends.'],
  ])('finds nothing in %s', (_, text) => {
    expect(hardToRead(text)).toEqual([])
  })

  test('gives the line of each finding, in order', () => {
    const text = '/** With a token. */\nconst a = 1\n// told\n'
    expect(hardToRead(text).map(({ line, found }) => [line, found])).toEqual([
      [1, 'With'],
      [3, 'told'],
    ])
  })
})

test('the files of the repository are easy to read', () => {
  const root = join(import.meta.dirname, '..')
  const counts = new Map<string, number>()
  for (const file of textFiles()) {
    for (const { found } of hardToRead(readFileSync(join(root, file), 'utf8'))) {
      const key = `${file}: ${found}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
  }
  const allowed = new Map(allowances.map(({ file, found, count }) => [`${file}: ${found}`, count]))
  expect(Object.fromEntries(counts)).toEqual(Object.fromEntries(allowed))
})

test('the list of allowances stays short', () => {
  const isWord = (found: string): boolean => hardToRead(found).length > 0
  const sum = (rows: readonly Allowance[]): number => rows.reduce((total, { count }) => total + count, 0)
  expect(sum(allowances.filter(({ found }) => isWord(found)))).toBeLessThanOrEqual(150)
  expect(sum(allowances.filter(({ found }) => !isWord(found)))).toBeLessThanOrEqual(20)
  expect(allowances.filter(({ reason }) => reason === '')).toEqual([])
})
