import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
/** The most words that the pages may have together. A new text needs a shorter old one. */
const MAX_WORDS = 65_000

/** Pages that tests write. */
const written = [
  'evidence/compared-with-githubreceiver.md',
  'evidence/compared-with-gitlabreceiver.md',
  'guides/backends.md',
]
const isHandWritten = (page: string): boolean =>
  page.endsWith('.md') && !page.startsWith('reference/') && !written.includes(page)

/** Returns the number of words in the text and the tables of a page, without its code. */
const wordsOf = (page: string): number =>
  readFileSync(join(root, page), 'utf8')
    .replaceAll(/^```[\s\S]*?^```$/gm, '')
    .split(/\s+/)
    .filter((part) => /\w/.test(part)).length

test('the hand-written pages together are short enough to be read', () => {
  const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter(isHandWritten)
  const counts = ['README.md', ...pages.map((page) => `docs/${page}`)].map((page) => [wordsOf(page), page] as const)
  const sum = counts.reduce((total, [words]) => total + words, 0)
  const longest = counts.toSorted(([a], [b]) => b - a).slice(0, 5)
  expect(sum, `the longest: ${longest.join('; ')}`).toBeLessThanOrEqual(MAX_WORDS)
})
