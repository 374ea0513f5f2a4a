import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { nodeSupport, oldestNode, readInstallationKind, testedNodes } from './installation.ts'

const root = join(import.meta.dirname, '../../../..')

test.each([
  ['20.18.3', 'too old'],
  ['18.20.0', 'too old'],
  ['20.19.0', 'tested'],
  ['22.12.0', 'untested'],
  ['24.21.0', 'tested'],
  ['25.0.0', 'untested'],
] as const)('Node %s is %s', (version, support) => {
  expect(nodeSupport(version)).toBe(support)
})

test('the versions are those of the manifest, of set-up and of CI', () => {
  const read = (file: string) => readFileSync(join(root, file), 'utf8')
  expect(JSON.parse(read('package.json')).engines.node).toBe(`>=${oldestNode.replace(/\.0$/, '')}`)
  expect(read('packages/toolchain/setup.mjs')).toContain(
    `const minimum = [${oldestNode.split('.').slice(0, 2).join(', ')}]`,
  )
  const [, pinned] = /^node24_version=(\d+)\./m.exec(read('.ci/run'))!
  expect(testedNodes.map(({ major }) => major)).toContain(Number(pinned))
})

test('docs/guides/installing.md has one row for each tested version', () => {
  const page = readFileSync(join(root, 'docs/guides/installing.md'), 'utf8')
  const rows = [...page.matchAll(/^\| Node (\d+)\S* \| (.*) \|$/gm)].map(([, major, tested]) => ({
    major: Number(major),
    tested,
  }))
  expect(rows).toEqual(testedNodes)
})

test('the kind of an installation is in a file; without one it is a checkout', () => {
  const directory = mkdtempSync(join(tmpdir(), 'penstock-installation-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'installation.txt')
  expect(readInstallationKind(pathToFileURL(file))).toBe('checkout')
  writeFileSync(file, 'image\n')
  expect(readInstallationKind(pathToFileURL(file))).toBe('image')
})
