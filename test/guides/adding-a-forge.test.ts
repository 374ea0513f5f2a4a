import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { applyCode, compilerErrors, directoryForSources, missingFiles, PageCode } from './page-code.ts'

const root = join(import.meta.dirname, '../..')
const name = 'docs/contributing/adding-a-forge.md'
const page = new PageCode(name)
const created = page.paths('New file')
const edited = page.paths('Edited file')

let directory: string

beforeAll(() => {
  directory = directoryForSources()
  cpSync(join(root, 'packages/forges/src'), join(directory, 'packages/forges/src'), { recursive: true })
  for (const block of page.blocks) applyCode(directory, block)
})

afterAll(() => rmSync(directory, { recursive: true }))

test(`${name}: a forge takes at most eight new and two edited files, which the tables name`, () => {
  expect(created.length).toBeLessThanOrEqual(8)
  expect(edited.length).toBeLessThanOrEqual(2)
  expect(missingFiles(edited)).toEqual([])
  const named = (isNew: boolean) => page.blocks.filter(({ how }) => (how === '') === isNew).map(({ path }) => path)
  expect(named(true).toSorted()).toEqual(created.toSorted())
  expect([...new Set(named(false))].toSorted()).toEqual(edited.toSorted())
})

test(`${name}: the code compiles`, () => {
  expect(
    compilerErrors(directory, ['packages/forges/src/index.ts', 'packages/forges/src/signatures.test.ts'], {}),
  ).toBe('')
})

test(`${name}: the example is read`, async () => {
  const { readInput } = (await import(
    join(directory, 'packages/forges/src/index.ts')
  )) as typeof import('@penstock/forges')
  const [, example = ''] = /^```json\n(.*?)^```$/ms.exec(readFileSync(join(root, name), 'utf8')) ?? []
  expect(readInput(JSON.parse(example), { receivedAtNs: undefined })).toMatchObject({
    kind: 'pipeline',
    record: {
      forge: 'dockyard',
      id: '0b1c4a52-7b1c-4d58-9a40-4f1d0ad6a3f9',
      status: 'success',
      jobs: [{ name: 'unit', status: 'failed', steps: [{ name: 'npm test', status: 'failed' }] }],
    },
    warnings: { total: 0 },
  })
  expect(() => readInput({ kind: 'push' }, { receivedAtNs: undefined })).toThrow('kind: must be run_finished')
})
