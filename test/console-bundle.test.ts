import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'
import { expect, test } from 'vitest'
import { root } from './source-imports.ts'

/** The bound of what a browser loads before it shows a page, compressed by gzip. Charts come after. */
const FIRST_LOAD_BYTES = 60_000

type Chunk = Rolldown.OutputChunk & { viteMetadata?: { importedCss: Set<string> } }

async function builtFiles(): Promise<readonly (Chunk | Rolldown.OutputAsset)[]> {
  const output = await build({
    root: join(root, 'packages/web'),
    logLevel: 'silent',
    mode: 'production',
    build: { write: false },
  })
  const outputs = (Array.isArray(output) ? output : [output]) as Rolldown.RolldownOutput[]
  return outputs.flatMap(({ output: files }) => files)
}

test('each page is shown after at most 60 kB, without the library of the charts', async () => {
  const files = new Map((await builtFiles()).map((file) => [file.fileName, file]))
  const chunks = [...files.values()].filter((file) => file.type === 'chunk') as Chunk[]
  const sizeOf = (name: string): number => {
    const file = files.get(name)!
    return gzipSync(file.type === 'chunk' ? file.code : file.source).byteLength
  }
  /** Returns the files that a chunk needs before it runs. */
  const neededBy = (chunk: Chunk): readonly string[] => {
    const seen = new Set<string>()
    const visit = (name: string) => {
      if (seen.has(name)) return
      seen.add(name)
      const found = files.get(name)
      if (found?.type !== 'chunk') return
      for (const style of (found as Chunk).viteMetadata?.importedCss ?? []) seen.add(style)
      for (const imported of found.imports) visit(imported)
    }
    visit(chunk.fileName)
    return [...seen]
  }
  const entry = chunks.find((chunk) => chunk.isEntry)!
  const pages = chunks.filter(({ facadeModuleId }) => /\/pages\/[\w-]+\/page\.tsx$/.test(facadeModuleId ?? ''))
  expect(pages.length).toBeGreaterThanOrEqual(9)
  const sizes = pages.map((page) => {
    const needed = new Set(['index.html', ...neededBy(entry), ...neededBy(page)])
    const chart = [...needed].filter((name) => (files.get(name) as Chunk).moduleIds?.some((id) => /uplot/i.test(id)))
    const bytes = [...needed].reduce((sum, name) => sum + sizeOf(name), 0)
    return { page: /pages\/([\w-]+)\/page/.exec(page.facadeModuleId!)![1]!, bytes, chart }
  })
  console.info(sizes.map(({ page, bytes }) => `${page}: ${(bytes / 1000).toFixed(1)} kB`).join(', '))
  expect(sizes.filter(({ bytes, chart }) => bytes > FIRST_LOAD_BYTES || chart.length > 0)).toEqual([])
})

test('nothing is loaded from another host, and nothing is evaluated', async () => {
  for (const file of await builtFiles()) {
    const text = String(file.type === 'chunk' ? file.code : file.source)
    const hosts = [...text.matchAll(/(?:url\(|src=|href=|import\(|fetch\()["'`]?(?:https?:)?\/\/[^"'`) ]+/g)].map(
      String,
    )
    expect([file.fileName, hosts]).toEqual([file.fileName, []])
    expect([file.fileName, /\beval\(|new Function\(|\.innerHTML\s*=(?!=)\s*["'`]</.test(text)]).toEqual([
      file.fileName,
      false,
    ])
  }
})
