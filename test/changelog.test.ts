import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PRODUCT_VERSION } from '../packages/converter/src/base/version.ts'
import { earlierVersions } from './earlier-version.ts'

const root = join(import.meta.dirname, '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const headings = [...read('docs/changelog.md').matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading)
const [first, ...released] = headings
const releases = released.map((heading) => /^(\d+\.\d+\.\d+) \((\d{4}-\d{2}-\d{2})\)$/.exec(heading)?.slice(1))
const parts = ['Installing', 'Gateway', 'Converter', 'Exporter', 'Core', 'Console', 'Known limits']
const comparable = (version: string) =>
  version
    .split('.')
    .map((part) => part.padStart(6, '0'))
    .join('.')

test('unreleased changes come first, then each version with its date, the newest first', () => {
  expect(first).toBe('Unreleased')
  expect(released.filter((_, at) => releases[at] === undefined)).toEqual([])
  const versions = releases.map((release) => comparable(release![0]!))
  expect(versions).toEqual([...new Set(versions)].toSorted().toReversed())
  const dates = releases.map((release) => release![1]!)
  expect(dates).toEqual(dates.toSorted().toReversed())
  expect(dates.filter((date) => Number.isNaN(Date.parse(date)))).toEqual([])
})

test('every section is about a part of the product, in the order of the parts, and has entries', () => {
  for (const section of read('docs/changelog.md')
    .split(/^## .+$/m)
    .slice(1)) {
    const [, ...described] = section.split(/^### /m)
    const names = described.map((part) => part.split('\n')[0]!)
    expect(names).toEqual(parts.filter((part) => names.includes(part)))
    expect(described.filter((part) => !/^- /m.test(part))).toEqual([])
  }
})

test('the newest version is that of every manifest and of the program', () => {
  const manifests = [
    'package.json',
    ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}/package.json`),
  ]
  const versions = manifests.map((file) => JSON.parse(read(file)).version)
  expect(new Set([...versions, PRODUCT_VERSION])).toEqual(new Set([releases[0]![0]]))
})

test('each version has left its databases, on SQLite and on PostgreSQL', () => {
  const versions = releases.map((release) => release![0]!).toSorted()
  expect([earlierVersions('sqlite').toSorted(), earlierVersions('postgres').toSorted()]).toEqual([versions, versions])
})
