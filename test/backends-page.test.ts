import { join } from 'node:path'
import { expect, test } from 'vitest'
import { backendsPage } from './backends/page.ts'

test('docs/guides/backends.md has the tables of the tests', async () => {
  await expect(backendsPage()).toMatchFileSnapshot(join(import.meta.dirname, '../docs/guides/backends.md'))
})
