import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { textFiles } from '../packages/toolchain/plain-english.mjs'

const root = join(import.meta.dirname, '..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

/** The letters of docs/contributing/spec/README.md, so that `UTF-8` and the like are not taken for rules. */
const ruleId = /(?<![\w-])[ACEFOPTX]-\d{1,2}(?![\w-])/g
const ruleHeading = /^### ([A-Z]-\d{1,2})$/gm

const pages = readdirSync(join(root, 'docs/contributing/spec')).map((page) => `docs/contributing/spec/${page}`)
const rules = pages.flatMap((page) => [...read(page).matchAll(ruleHeading)].map(([, id = '']) => id))

const files = textFiles().filter((file) => file !== 'test/rules.test.ts')
const isTest = (file: string): boolean => /\.(?:test|case)\.ts$/.test(file)
const citationsIn = (file: string): string[] => read(file).match(ruleId) ?? []

test('each rule has one heading', () => {
  expect(rules.length).toBeGreaterThan(0)
  expect(rules.filter((id, index) => rules.indexOf(id) !== index)).toEqual([])
})

test('each cited rule is in docs/contributing/spec', () => {
  const unknown = files.flatMap((file) =>
    citationsIn(file)
      .filter((id) => !rules.includes(id))
      .map((id) => `${file}: ${id}`),
  )
  expect(unknown).toEqual([])
})

test('each rule is cited by a test', () => {
  const cited = new Set(files.filter(isTest).flatMap(citationsIn))
  expect(rules.filter((id) => !cited.has(id))).toEqual([])
})

test('no document outside the repository is cited', () => {
  const citation =
    /\b(?:docs\/)?(?:contributing\/)?spec\/[\w-]+\.md|\bdesign\.md|\brulings?\b|\btables? \d\.\d|\barea-checklist/gi
  const isPage = (name: string): boolean =>
    existsSync(join(root, 'docs/contributing', name.replace(/^(docs\/)?(contributing\/)?/, '')))
  const cited = files.flatMap((file) =>
    [...read(file).matchAll(citation)].filter(([found]) => !isPage(found)).map(([found]) => `${file}: ${found}`),
  )
  expect(cited).toEqual([])
})
