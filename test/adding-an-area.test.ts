import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')

interface Block {
  /** The path below `packages`. */
  readonly path: string
  /** The instruction of the page for the block; empty for a new file. */
  readonly how: string
  readonly code: string
}

/** The blocks that name their file. Blocks of the HTTP matrix are left out, because they are parts of tables. */
const blocks: readonly Block[] = [
  ...readFileSync(join(root, 'docs/adding-an-area.md'), 'utf8').matchAll(
    /^```ts\n\/\/ ((?:core|rest|graphql)\/\S+\.ts)(?:, ([^\n]+))?\n(.*?)^```$/gms,
  ),
].map(([, path = '', how = '', code = '']) => ({ path, how, code }))

let directory: string

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'penstock-area-'))
  for (const name of ['core', 'rest', 'graphql']) {
    const source = join(root, 'packages', name)
    cpSync(join(source, 'src'), join(directory, name, 'src'), { recursive: true })
    cpSync(join(source, 'package.json'), join(directory, name, 'package.json'))
  }
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
})

afterAll(() => rmSync(directory, { recursive: true }))

test('docs/adding-an-area.md: the code compiles', { timeout: 120_000 }, () => {
  for (const block of blocks) put(block)
  const made = blocks.map(({ path }) => path).filter((path) => path.includes('bookmark'))
  expect(made.length).toBeGreaterThan(6)
  writeFileSync(
    join(directory, 'tsconfig.json'),
    JSON.stringify({
      extends: join(root, 'tsconfig.base.json'),
      compilerOptions: {
        ...{ noEmit: true, composite: false, declaration: false, declarationMap: false, sourceMap: false },
        ...{ rewriteRelativeImportExtensions: false, typeRoots: [join(root, 'node_modules/@types')] },
        paths: { '@penstock/core': ['./core/src/index.ts'] },
      },
      files: [...new Set(made), 'core/src/index.ts', 'graphql/src/schema.ts'],
    }),
  )
  expect(compilerErrors()).toBe('')
})

function put({ path, how, code }: Block): void {
  const file = join(directory, path)
  if (how === '') {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, code, { flag: 'wx' })
  } else if (how === 'added') {
    appendFileSync(file, code)
  } else {
    const before = readFileSync(file, 'utf8')
    const after = before.replace(/^} as const/m, (end) => code + end)
    expect(after).not.toBe(before)
    writeFileSync(file, after)
  }
}

function compilerErrors(): string {
  try {
    return execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', directory], { encoding: 'utf8' })
  } catch (error) {
    return (error as { readonly stdout: string }).stdout
  }
}
