import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const MAX_BYTES = 150_000

const files = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })

test('pictures of the documentation are shown on a page, and small enough to be loaded with it', () => {
  const pages = ['README.md', ...files.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)]
  const text = pages.map((page) => readFileSync(join(root, page), 'utf8')).join('\n')
  const pictures = files.filter((name) => name.endsWith('.png'))
  expect(pictures.length).toBeGreaterThan(0)
  expect(pictures.filter((name) => !text.includes(`${basename(name)})`))).toEqual([])
  expect(pictures.filter((name) => statSync(join(root, 'docs', name)).size > MAX_BYTES)).toEqual([])
})
