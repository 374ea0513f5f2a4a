import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './source-imports.ts'

const page = readFileSync(join(root, 'docs/evidence/http2-vulnerabilities.md'), 'utf8')
const rows = [...page.matchAll(/^\| (CVE-[^|]+) \| [^|]+ \| `([^`]+)`: `([^`]+)` \|$/gm)]

test('each row of the page names a test', () => {
  expect(rows).toHaveLength(page.split('\n').filter((line) => line.startsWith('| CVE-')).length)
  expect(rows.length).toBeGreaterThan(15)
})

test.each(rows.map(([, names, file, title]) => [names!, file!, title!]))('%s: the test exists', (_, file, title) => {
  expect(readFileSync(join(root, 'packages/gateway/src', file), 'utf8')).toContain(`'${title}'`)
})
