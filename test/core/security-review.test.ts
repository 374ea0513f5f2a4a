import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const packages = join(import.meta.dirname, '../../packages')
const folders = [
  ...['core/src', 'rest/src', 'http/src', 'graphql/src', 'gateway/src', 'webhooks/src', 'mail/src', 'cli/src'],
  ...[
    '../test/core',
    '../test/cli',
    '../test/contract',
    '../test/browser',
    '../test/packaging',
    '../test/gateway',
    '../test/graphql',
  ],
]

const page = readFileSync(join(packages, '../docs/guides/security.md'), 'utf8')
const listed = readFileSync(join(packages, '../docs/evidence/security-tests.tsv'), 'utf8')

test('every test cited in the security review exists exactly once', () => {
  const named = [...`${page}${listed}`.matchAll(/“(.+?)”/g)].map((match) => match[1]!)
  const tests = folders
    .flatMap((folder) =>
      readdirSync(join(packages, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.test.ts'))
        .map((file) => join(packages, folder, file)),
    )
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')
  expect(named.length).toBeGreaterThan(40)
  expect(named.filter((name) => tests.split(`'${name}'`).length !== 2)).toEqual([])
})

test('the list of tests has each risk of the security review, with a test', () => {
  const sections = page.split(/^## /m).flatMap((section) => {
    const [, table = ''] = section.split('| Risk | Protection |\n| --- | --- |\n')
    const rows = table.split('\n\n')[0]!.match(/^\| .*/gm) ?? []
    return rows.map((row) => `${section.slice(0, section.indexOf('\n'))}\t${row.slice(2, row.indexOf(' | '))}`)
  })
  const rows = listed.trimEnd().split('\n').slice(1)
  expect(rows.map((row) => row.split('\t', 2).join('\t'))).toEqual(sections)
  expect(rows.filter((row) => !/\t[^\t]*“[^\t]+”[^\t]*$/.test(row))).toEqual([])
})
