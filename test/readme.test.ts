import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fileVariableOf } from '../packages/cli/src/settings/read-settings.ts'
import { settingTable } from '../packages/cli/src/settings/setting-table.ts'
import { penstock } from './command-line.ts'
import { caseNames } from './fixtures.ts'

const root = join(import.meta.dirname, '..')
const read = (page: string): string => readFileSync(join(root, page), 'utf8')

const pagesWithCommands = ['README.md', 'docs/guides/tour.md', 'docs/guides/converting.md']

/** The arguments of `npx penstock` in these pages. `export` is left out, because it needs a server. */
const commands = pagesWithCommands
  .flatMap((page) => [...read(page).matchAll(/^npx penstock (.+)$/gm)])
  .map(([, args = '']) => args.split(/\s+/))
  .filter(([name]) => name !== 'export')

test('the README has at most 200 lines', () => {
  expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(200)
})

describe('commands of the README and of the tours', () => {
  let directory: string
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'penstock-readme-'))
  })
  afterAll(() => rmSync(directory, { recursive: true }))

  test('are more than one', () => {
    expect(commands.length).toBeGreaterThan(1)
  })

  test.each(commands.map((args) => [args.join(' '), args] as const))('%s', async (_, args) => {
    const inRoot = args.map((arg) => (arg.includes('/') ? join(root, arg) : arg))
    const { exitCode, stdout, stderr } = await penstock(inRoot, { env: { PENSTOCK_DATA_DIR: directory } })
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringMatching(/./) })
    expect(stderr).toMatch(args[1] === 'create' ? /^created .*\n$/ : /^$/)
  })
})

/** Every Markdown file. */
const pages = ['', 'docs', 'collector-config', 'fixtures', 'packages', 'packaging', 'test'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: folder !== '', encoding: 'utf8' })
    .filter((file) => file.endsWith('.md') && !/(^|\/)(node_modules|dist)(\/|$)/.test(file))
    .map((file) => join(folder, file)),
)

const places = ['collector-config', 'docs', 'fixtures', 'packages', 'packaging', 'test']
const files = places.flatMap((place) =>
  readdirSync(join(root, place), { recursive: true, encoding: 'utf8' })
    .filter((file) => !/(^|\/)(node_modules|dist)(\/|$)/.test(file))
    .map((file) => `${place}/${file}`),
)

/** The ends of existing paths: `schema.ts` names a file, and `expected.json` every `<case>.expected.json`. */
const isNamed = (end: string): boolean =>
  [...readdirSync(root), ...files].some((file) => `/${file}`.endsWith(`/${end}`) || file.endsWith(`.${end}`))

/** Files that `npm run pack` writes. */
const packedFiles = /^(?:dist\/)?(?:sbom\.cdx\.json|THIRD-PARTY-LICENCES\.txt)$/

/** The examples of the pages for contributors, the name that a file of a snippet gets, a file of the data directory, a file of a reader, and one in a setting. */
const isMadeUp = (path: string): boolean =>
  path.includes('bookmark') ||
  path.includes('environment_hooks') ||
  path.includes('pages/services') ||
  path.includes('dockyard') ||
  path === 'run-hook.ts' ||
  path.endsWith('payloads/environment.ts') ||
  path === 'snippetfile1.txt' ||
  path === 'plane.json' ||
  path === 'hook.json' ||
  packedFiles.test(path) ||
  path.endsWith('known/security.txt')

/** The variables of `penstock serve` and of the other commands. */
const variables = new Set([
  ...Object.values(settingTable).flatMap((row) => [row.variable, fileVariableOf(row) ?? []].flat()),
  'PENSTOCK_SERVICE_NAME',
  'PENSTOCK_EXPORT_ENDPOINT',
  'PENSTOCK_EXPORT_TOKEN',
  'PENSTOCK_FORGE_TOKEN',
  'PENSTOCK_HOOK_SIGNING_TOKEN',
  'PENSTOCK_ROOT_PIPELINE_ID',
  // Of the tests on PostgreSQL.
  'PENSTOCK_TEST_DATABASE_URL',
])

/** Pages that name files of other repositories, from which payloads and requests were taken. */
const pagesWithForeignFiles = [
  'docs/evidence/real-payloads.md',
  'test/graphql/contract-examples.md',
  'test/graphql/operations/operations.md',
]

/** Returns the anchors of the headings of a page, as GitHub makes them. */
function anchorsOn(page: string): string[] {
  const headings = [
    ...read(page)
      .replaceAll(/^```[\s\S]*?^```$/gm, '')
      .matchAll(/^#+ (.+)$/gm),
  ]
  return headings.map(([, heading = '']) =>
    heading
      .replaceAll(/\]\([^)]*\)/g, '')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

describe.each(pages)('%s', (page) => {
  const text = read(page).replaceAll(/https?:[^)\s]*/g, '')
  const namesOwnFiles = !pagesWithForeignFiles.includes(page)

  test('links lead to existing files', () => {
    const links = [...text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)].map(([, target = '']) => target)
    expect(links.filter((target) => !existsSync(join(root, dirname(page), target)))).toEqual([])
  })

  test('links to sections lead to existing headings', () => {
    const links = [...text.matchAll(/\]\(([^)\s#]*\.md)?#([^)]+)\)/g)]
    const isHeading = (target: string, anchor: string): boolean =>
      anchorsOn(target === '' ? page : join(dirname(page), target)).includes(anchor)
    const broken = links.filter(([, target = '', anchor = '']) => !isHeading(target, anchor))
    expect(broken.map(([link]) => link)).toEqual([])
  })

  if (namesOwnFiles)
    test('paths from the root exist', () => {
      const paths = text.match(new RegExp(`(?<![\\w./-])(?:${places.join('|')})/[\\w./-]*\\w`, 'g')) ?? []
      expect(paths.filter((path) => !isMadeUp(path) && !existsSync(join(root, path)))).toEqual([])
    })

  test('no command has a comment behind it, which zsh would pass on as arguments', () => {
    const shell = [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block).join('')
    expect(shell.match(/^[^#\n]*\S[ \t]+# .*$/gm) ?? []).toEqual([])
  })

  test('named scripts exist', () => {
    const named = [...text.matchAll(/\bnpm run (?:--silent )?([a-z][a-z:]*)/g)].map(([, name = '']) => name)
    const { scripts } = JSON.parse(read('package.json'))
    expect(named.filter((name) => !(name in scripts))).toEqual([])
  })

  test('named variables are settings', () => {
    const named = text.match(/\bPENSTOCK_[A-Z0-9_]+/g) ?? []
    expect(named.filter((name) => !variables.has(name))).toEqual([])
  })

  test('named settings exist', () => {
    const named = [...text.matchAll(/`((?:gateway|observability)\.(?!db`)\w+)`/g)].map(([, name = '']) => name)
    expect(named.filter((name) => !(name in settingTable))).toEqual([])
  })

  if (namesOwnFiles)
    test('named files exist, by the end of their path', () => {
      const names = text.match(/(?<![\w.])[\w-][\w./-]*\.(?:json|md|mjs|ts|txt|yaml)\b/g) ?? []
      expect(names.filter((name) => !isMadeUp(name) && !isNamed(name))).toEqual([])
    })
})

test('fixtures/README.md lists exactly the existing cases', () => {
  const [, index = ''] = read('fixtures/README.md').split('## Edge cases and their files')
  const listed = [...index.matchAll(/`([a-z0-9-]+)`/g)].map(([, name]) => name)
  expect([...new Set(listed)].toSorted()).toEqual(caseNames)
})

describe.each(readdirSync(join(root, 'packages')))('packages/%s/README.md', (name) => {
  const text = read(`packages/${name}/README.md`)

  test('has at most 40 lines', () => {
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(40)
  })

  test('names only entry points that the package exports', () => {
    const sources = files
      .filter((file) => file.startsWith(`packages/${name}/src/`) && file.endsWith('.ts'))
      .map((file) => read(file))
    const isExported = (entry: string) =>
      sources.some((source) =>
        new RegExp(`^export (?:async )?(?:function\\*?|class|interface|const|type) ${entry}\\b`, 'm').test(source),
      )
    const rows = text.match(/^\| `\w+` \|.*$/gm)?.join('\n') ?? ''
    const entries = [...rows.matchAll(/`([A-Za-z]*[a-z][A-Za-z]*)`/g)].map(([, entry = '']) => entry)
    expect(entries.filter((entry) => entry !== entry.toLowerCase() && !isExported(entry))).toEqual([])
  })
})
