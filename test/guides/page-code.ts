import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** A block of code on a page, with the file that it belongs to. */
export interface CodeOfFile {
  readonly path: string
  /** How to apply it, in words of the page; empty for a new file. */
  readonly how: string
  readonly code: string
}

/** A page for contributors that adds something to the code, step by step. */
export class PageCode {
  readonly blocks: readonly CodeOfFile[]
  readonly #text: string

  constructor(page: string) {
    this.#text = readFileSync(join(root, page), 'utf8')
    const block =
      /^```(?:tsx?|js|css)\n(?:\/\/|\/\*) ((?:[\w-]+\/)+\S+\.(?:tsx?|js|css))(?:, ([^\n]+?))?(?: \*\/)?\n(.*?)^```$/gms
    this.blocks = [...this.#text.matchAll(block)].map(([, path = '', how = '', code = '']) => ({ path, how, code }))
  }

  /** Returns the paths in the first column of the table with this heading. */
  paths(heading: string): string[] {
    const rows = new RegExp(`^\\| ${heading} \\|.*\\n\\|[-| ]+\\|\\n((?:\\|.*\\n)+)`, 'm').exec(this.#text)?.[1] ?? ''
    return [...rows.matchAll(/^\| `(\S+)`/gm)].map(([, path = '']) => path.replace('YYYYMMDDTHHMM', '20261123T0900'))
  }
}

/** Returns a new directory for copies of the sources, in which the packages of the checkout are installed. */
export function directoryForSources(): string {
  const directory = mkdtempSync(join(tmpdir(), 'penstock-page-'))
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }')
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  return directory
}

const tableEnd = /^[}\]](?: as const)?.*$/m

/** Applies a block to the copies of the sources. */
export function applyCode(directory: string, { path, how, code }: CodeOfFile): void {
  const file = join(directory, path)
  if (how === '') {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, code, { flag: 'wx' })
  } else if (how === 'added') {
    appendFileSync(file, code)
  } else if (how === 'at the top') {
    writeFileSync(file, code + readFileSync(file, 'utf8'))
  } else if (how.startsWith('instead of ')) {
    const before = readFileSync(file, 'utf8')
    const former = how.slice('instead of '.length)
    if (before.split(former).length !== 2) throw new Error(`${path} does not have ${former} once`)
    writeFileSync(file, before.replace(former, code.trim()))
  } else {
    const before = readFileSync(file, 'utf8')
    const [name] = /(?<=in the (?:table|list) )\w+/.exec(how) ?? []
    const start = name === undefined ? tableStart(before) : before.search(new RegExp(`\\b${name}\\b.*[{[]$`, 'm'))
    const end = start + before.slice(start).search(tableEnd)
    if (start < 0 || end <= start) throw new Error(`${path} has no table to edit`)
    writeFileSync(file, before.slice(0, end) + code + before.slice(end))
  }
}

/** Returns where the first exported table or list begins. */
const tableStart = (text: string): number => text.search(/^export const \w+[^\n]* = [{[]$/m)

/** Compiles the copies strictly. @returns what the compiler prints; empty if there are no errors */
export function compilerErrors(
  directory: string,
  files: readonly string[],
  paths: Readonly<Record<string, string[]>>,
  base?: string,
): string {
  const typeFolders = ['node_modules/@types', ...(base === undefined ? [] : ['node_modules'])]
  const compilerOptions = {
    ...{ noEmit: true, composite: false, declaration: false, declarationMap: false, sourceMap: false },
    ...{ rewriteRelativeImportExtensions: false, emitDeclarationOnly: false, rootDir: directory, paths },
    typeRoots: typeFolders.map((folder) => join(root, folder)),
  }
  const config = {
    extends: base ?? join(root, 'tsconfig.base.json'),
    compilerOptions,
    files,
    include: [],
    references: [],
  }
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(config))
  try {
    return execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', directory], { encoding: 'utf8' })
  } catch (error) {
    return (error as { readonly stdout: string }).stdout
  }
}

/** Returns the paths that do not exist in the checkout. */
export const missingFiles = (paths: readonly string[]): string[] =>
  paths.filter((path) => !existsSync(join(root, path)))
