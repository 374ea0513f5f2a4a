import { cpSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { applyCode, compilerErrors, directoryForSources, missingFiles, PageCode } from './page-code.ts'

const root = join(import.meta.dirname, '../..')
const page = new PageCode('docs/contributing/extending-the-console.md')
const created = page.paths('New file')
const edited = page.paths('Edited file')

let directory: string

beforeAll(() => {
  directory = directoryForSources()
  cpSync(join(root, 'packages/web'), join(directory, 'packages/web'), {
    recursive: true,
    filter: (source) => !/\/(?:node_modules|dist)$/.test(source),
  })
  cpSync(join(root, 'test/browser'), join(directory, 'test/browser'), { recursive: true })
})

afterAll(() => rmSync(directory, { recursive: true }))

test('docs/contributing/extending-the-console.md: the tables name the files of the example', () => {
  expect(missingFiles(edited)).toEqual([])
  expect(page.blocks.filter(({ how }) => how === '').map(({ path }) => path)).toEqual(created)
  const changed = page.blocks.filter(({ how }) => how !== '').map(({ path }) => path)
  expect(changed.length).toBeGreaterThan(0)
  expect(edited).toEqual(expect.arrayContaining(changed))
})

test('docs/contributing/extending-the-console.md: the page compiles, and its folder is that of its row', async () => {
  for (const block of page.blocks) applyCode(directory, block)
  const sources = ['packages/web/src/app/app.tsx', 'packages/web/src/app/navigation.tsx', ...created]
  expect(compilerErrors(directory, sources, {}, join(root, 'packages/web/tsconfig.json'))).toBe('')
  const { consolePages } = await import(join(directory, 'packages/web/console-pages.js'))
  for (const { folder } of consolePages)
    expect(existsSync(join(directory, 'packages/web/src/pages', folder, 'page.tsx'))).toBe(true)
})
