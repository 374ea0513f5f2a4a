/**
 * Finds words that make text hard to read, and doc comments that do not begin with what a thing is or does.
 *
 *   node packages/toolchain/plain-english.mjs [path…]     prints file:line and the word, and ends with 1 if there is any
 *
 * `test/plain-english.test.ts` runs it over the whole repository.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

const words = [
  ...['told', 'nobody', 'whoever', 'whose', 'so many', 'whom', 'anybody', 'anew', 'heeded', 'mended', 'meanwhile'],
  ...['counts as', 'count as', 'stands for', 'stand for', 'tells whether'],
]

const capitalised = words.map((word) => word[0].toUpperCase() + word.slice(1))
/** Matches the words in prose, and as a part of a camelCase or snake_case name. */
const hardWord = new RegExp(
  `(?<![A-Za-z])(?:${[...words, ...capitalised].join('|')})(?![a-z])|(?<=[a-z])(?:${capitalised.join('|')})(?![a-z])`,
  'g',
)
const docComment = /\/\*\*\s*(?:\*\s*)?(For what|Of|With|By|From|What|Says whether)\b/g

const scanned = /\.(?:[cm]?[jt]sx?|md|ya?ml|sql|sh|css)$/
const ignoredFolders = new Set(['node_modules', 'dist', '.git', '.cache', '.vite'])
/** `fixtures/README.md` is ours; the payloads and golden files beside it have words of their own. */
const roots = [
  'README.md',
  '.ci/run',
  'docs',
  'packages',
  'packaging',
  'test',
  'collector-config',
  'fixtures/README.md',
]
const itself = ['packages/toolchain/plain-english.mjs', 'test/plain-english.test.ts']

/** @returns {{ line: number, found: string, kind: 'word' | 'doc comment' }[]} every hard word and every doc comment to begin otherwise */
export function hardToRead(text) {
  const lineAt = (index) => text.slice(0, index).split('\n').length
  return [
    ...[...text.matchAll(hardWord)].map(({ 0: found, index }) => ({ line: lineAt(index), found, kind: 'word' })),
    ...[...text.matchAll(docComment)].map(({ 1: found, index }) => ({
      line: lineAt(index),
      found,
      kind: 'doc comment',
    })),
  ].sort((a, b) => a.line - b.line)
}

/** @returns {string[]} the text files of the repository below these paths, relative to its root */
export function textFiles(paths = roots) {
  return paths
    .flatMap((path) => filesBelow(join(root, path)))
    .map((file) => relative(root, file))
    .filter((file) => !itself.includes(file))
    .sort()
}

function filesBelow(path) {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => (entry.isDirectory() ? !ignoredFolders.has(entry.name) : scanned.test(entry.name)))
    .flatMap((entry) => filesBelow(join(path, entry.name)))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const paths = process.argv.slice(2).map((path) => relative(root, join(process.cwd(), path)))
  const findings = textFiles(paths.length === 0 ? roots : paths).flatMap((file) =>
    hardToRead(readFileSync(join(root, file), 'utf8')).map(
      ({ line, found, kind }) => `${file}:${line}: ${kind}: ${found}`,
    ),
  )
  for (const finding of findings) console.log(finding)
  console.log(`${findings.length} found`)
  process.exitCode = findings.length === 0 ? 0 : 1
}
