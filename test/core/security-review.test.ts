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

test('every test cited in the security review exists exactly once', () => {
  const review = readFileSync(join(packages, '../docs/guides/security.md'), 'utf8')
  const named = [...review.matchAll(/“(.+?)”/g)].map((match) => match[1]!)
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
