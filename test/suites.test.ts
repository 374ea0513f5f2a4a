import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { onPostgres, suiteOfPath, suiteProjects } from './suites.ts'

const root = join(import.meta.dirname, '..')
const testFiles = ['packages', 'test'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && !/(^|\/)(node_modules|dist)\//.test(file))
    .map((file) => `${folder}/${file}`),
)

const suites = suiteProjects().map((project) => project.test.name)
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
const suitesOf = (script: string): string[] =>
  [...scripts[script]!.matchAll(/ --project (\S+)/g)].map(([, name = '']) => name)

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'penstock-suites-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

/** Returns the files that vitest finds, once per project that has them. */
function listed(...args: readonly string[]): string[] {
  const output = join(directory, 'files.json')
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  execFileSync(process.execPath, [vitest, 'list', '--filesOnly', `--json=${output}`, ...args], { cwd: root })
  const found: { file: string }[] = JSON.parse(readFileSync(output, 'utf8'))
  return found.map(({ file }) => relative(root, file))
}

test('every test file belongs to exactly one suite', () => {
  expect(listed().toSorted()).toEqual(testFiles.toSorted())
})

test('npm test and npm run test:all run every suite, and none twice', () => {
  expect([...suitesOf('test'), ...suitesOf('test:all')].toSorted()).toEqual(suites.toSorted())
})

test('npm run test:unit runs a part of npm test', () => {
  expect(suitesOf('test')).toEqual(expect.arrayContaining(suitesOf('test:unit')))
})

test('npm run test:postgres runs the files of its table, each in one suite', () => {
  const config = join(root, 'test/postgres/vitest.config.ts')
  const inTable = testFiles.filter((file) => onPostgres.some((path) => file.startsWith(path)))
  expect(listed('--config', config).toSorted()).toEqual(inTable.toSorted())
})

test('every path of the tables has test files', () => {
  const paths = [...suiteOfPath.map(([path]) => path), ...onPostgres]
  expect(paths.filter((path) => !testFiles.some((file) => file.startsWith(path)))).toEqual([])
})

test('modules that tests share register no hooks when they are imported', () => {
  // Files of a suite can share a process and its modules: such hooks would count for the first file alone.
  const shared = ['packages', 'test'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /(?<!\.test)\.ts$/.test(file) && !/(^|\/)(node_modules|dist)\//.test(file))
      .map((file) => `${folder}/${file}`),
  )
  const hook = /^(?:before|after)(?:Each|All)\(/m
  expect(shared.filter((file) => hook.test(readFileSync(join(root, file), 'utf8')))).toEqual([])
})
