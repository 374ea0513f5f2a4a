import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { applyCode, compilerErrors, directoryForSources, missingFiles, PageCode } from './page-code.ts'

const root = join(import.meta.dirname, '../..')
const page = new PageCode('docs/contributing/adding-a-webhook-event.md')
const created = page.paths('New file')
const edited = page.paths('Edited file')

let directory: string

beforeAll(() => {
  directory = directoryForSources()
  for (const name of ['core', 'webhooks'])
    cpSync(join(root, 'packages', name, 'src'), join(directory, 'packages', name, 'src'), { recursive: true })
  cpSync(join(root, 'test/contract'), join(directory, 'test/contract'), { recursive: true })
})

afterAll(() => rmSync(directory, { recursive: true }))

test('docs/contributing/adding-a-webhook-event.md: an event takes at most six files, which the tables name', () => {
  expect(created.length + edited.length).toBeLessThanOrEqual(6)
  expect(missingFiles(edited)).toEqual([])
  const named = new Set(page.blocks.map(({ path }) => path))
  expect([...created, ...edited].filter((path) => path.endsWith('.ts')).toSorted()).toEqual([...named].toSorted())
  expect(
    page.blocks
      .filter(({ how }) => how === '')
      .map(({ path }) => path)
      .toSorted(),
  ).toEqual(created.toSorted())
})

test('docs/contributing/adding-a-webhook-event.md: the code compiles', () => {
  for (const block of page.blocks) applyCode(directory, block)
  const files = ['packages/core/src/index.ts', 'packages/webhooks/src/index.ts', ...created]
  expect(compilerErrors(directory, files, { '@penstock/core': ['./packages/core/src/index.ts'] })).toBe('')
})
