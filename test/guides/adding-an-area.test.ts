import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  existsSync,
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

const root = join(import.meta.dirname, '../..')

interface Block {
  /** Below `packages`, or `test/…`. */
  readonly path: string
  /** How to apply it, in words of the page; empty for a new file. */
  readonly how: string
  readonly code: string
}

const page = readFileSync(join(root, 'docs/contributing/adding-an-area.md'), 'utf8')

/** The blocks that say where they belong. */
const blocks: readonly Block[] = [
  ...page.matchAll(/^```ts\n\/\/ ((?:core|rest|graphql|test)\/\S+\.ts)(?:, ([^\n]+))?\n(.*?)^```$/gms),
].map(([, path = '', how = '', code = '']) => ({ path, how, code }))

/** The paths of new and of edited files in the tables of the page. */
const namedIn = (heading: string) =>
  [
    ...new RegExp(`^\\| ${heading} \\|.*\\n\\|[-|]+\\|\\n((?:\\|.*\\n)+)`, 'm')
      .exec(page)![1]!
      .matchAll(/^\| `(\S+)`/gm),
  ].map(([, path = '']) => path.replace('YYYYMMDDTHHMM', '20261123T0900'))

let directory: string

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'penstock-area-'))
  for (const name of ['core', 'rest', 'graphql']) {
    const source = join(root, 'packages', name)
    cpSync(join(source, 'src'), join(directory, name, 'src'), { recursive: true })
    cpSync(join(source, 'package.json'), join(directory, name, 'package.json'))
  }
  cpSync(join(root, 'test/core'), join(directory, 'test/core'), { recursive: true })
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }')
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
})

afterAll(() => rmSync(directory, { recursive: true }))

test('docs/contributing/adding-an-area.md: the tables name the files of the example', () => {
  const created = blocks.filter(({ how }) => how === '').map(({ path }) => path)
  expect(created).toEqual(namedIn('New file'))
  const edited = namedIn('Edited file')
  expect(edited).toEqual(expect.arrayContaining(blocks.flatMap(({ path, how }) => (how === '' ? [] : path))))
  expect(edited.filter((path) => !existsSync(join(root, 'packages', path)))).toEqual([])
})

test('docs/contributing/adding-an-area.md: the code compiles', () => {
  for (const block of blocks) put(block)
  const written = blocks.map(({ path }) => path).filter((path) => path.includes('bookmark'))
  writeFileSync(
    join(directory, 'tsconfig.json'),
    JSON.stringify({
      extends: join(root, 'tsconfig.base.json'),
      compilerOptions: {
        ...{ noEmit: true, composite: false, declaration: false, declarationMap: false, sourceMap: false },
        ...{ rewriteRelativeImportExtensions: false, typeRoots: [join(root, 'node_modules/@types')] },
        paths: { '@penstock/core': ['./core/src/index.ts'], '@penstock/rest': ['./rest/src/index.ts'] },
      },
      files: [...written, 'core/src/index.ts', 'graphql/src/schema.ts'],
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
