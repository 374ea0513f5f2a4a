import { existsSync, readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { consolePages } from '../console-pages.js'

const pages = new URL('pages/', import.meta.url)

test('every page of the table has code, and every page with code is in the table', () => {
  const withCode = readdirSync(pages).filter((folder) => existsSync(new URL(`${folder}/page.tsx`, pages)))
  expect(consolePages.map(({ folder }) => folder).toSorted()).toEqual(withCode.toSorted())
})

test('paths and keys are unique, and sections are pages of the navigation', () => {
  const paths = consolePages.map(({ path }) => path)
  const keys = consolePages.flatMap(({ navigation }) => navigation?.key ?? [])
  expect([new Set(paths).size, new Set(keys).size]).toEqual([paths.length, keys.length])
  const linked = consolePages.filter(({ navigation }) => navigation !== undefined).map(({ path }) => path)
  for (const { section = linked[0] } of consolePages) expect(linked).toContain(section)
})
