import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fileGraph, folderGraph, isTest, packages, root, sourcesOf } from './source-imports.ts'

/** The packages that each package may import. `cli` may import all of these, and no package imports `cli`. */
const mayImport: Record<string, readonly string[]> = {
  json: [],
  runtime: [],
  otlp: ['json'],
  db: [],
  forges: [],
  converter: ['forges', 'otlp'],
  'test-reports': ['converter', 'forges', 'otlp'],
  delivery: ['db', 'runtime'],
  exporter: ['converter', 'db', 'delivery', 'forges', 'http', 'json', 'otlp', 'runtime'],
  http: ['json', 'runtime'],
  markup: ['runtime'],
  core: ['db', 'forges', 'runtime'],
  rest: ['core', 'http', 'json', 'runtime'],
  graphql: ['core', 'http', 'json', 'runtime'],
  webhooks: ['core', 'db', 'delivery', 'runtime'],
  mail: ['core', 'db', 'delivery', 'runtime'],
  observe: ['db', 'http', 'json', 'otlp', 'runtime'],
  gateway: ['db', 'http', 'json', 'otlp', 'runtime'],
  web: ['observe'],
  cli: [
    'converter',
    'core',
    'db',
    'delivery',
    'exporter',
    'forges',
    'gateway',
    'graphql',
    'http',
    'json',
    'mail',
    'markup',
    'observe',
    'otlp',
    'rest',
    'runtime',
    'test-reports',
    'web',
    'webhooks',
  ],
  testkit: ['core', 'db', 'markup', 'runtime'],
}

/** The packages that may import each external library. Other packages may import it only in tests. */
const owners: Record<string, readonly string[]> = {
  'better-sqlite3': ['db'],
  pg: ['db'],
  '@clickhouse/client': ['observe'],
  kysely: ['core', 'db', 'delivery', 'exporter', 'gateway', 'observe', 'testkit'],
  undici: ['delivery', 'gateway'],
  'ipaddr.js': ['delivery'],
  nodemailer: ['mail'],
  'markdown-it': ['markup'],
  'markdown-it-footnote': ['markup'],
  '@asciidoctor/core': ['markup'],
  orga: ['markup'],
  '@orgajs/reorg-rehype': ['markup'],
  'hast-util-from-parse5': ['markup'],
  'hast-util-sanitize': ['markup'],
  'hast-util-to-html': ['markup'],
  parse5: ['markup'],
  'highlight.js': ['markup'],
  busboy: ['http'],
  koa: ['http'],
  '@koa/router': ['http'],
  zod: ['core', 'exporter', 'http', 'gateway', 'graphql', 'observe', 'rest'],
  graphql: ['graphql'],
  '@graphql-yoga/render-graphiql': ['graphql'],
  '@graphql-tools/utils': ['graphql'],
  '@pothos/core': ['graphql'],
  dataloader: ['graphql'],
  'isomorphic-git': ['core'],
  jose: ['core'],
  re2js: ['core'],
  'tar-stream': ['core'],
  yaml: ['core'],
  yazl: ['core'],
  'rate-limiter-flexible': ['db'],
  argon2: ['core', 'gateway'],
  preact: ['web'],
  '@preact/signals': ['web'],
  uplot: ['web'],
  pino: ['runtime'],
  commander: ['cli'],
  sax: ['test-reports'],
  'fast-check': ['testkit'],
  '@opentelemetry/api': ['converter', 'gateway'],
  '@opentelemetry/core': ['converter'],
  '@opentelemetry/resources': ['converter', 'gateway'],
  '@opentelemetry/exporter-metrics-otlp-proto': ['gateway'],
  '@opentelemetry/sdk-logs': ['converter'],
  '@opentelemetry/sdk-metrics': ['converter', 'gateway'],
  '@opentelemetry/sdk-trace-base': ['converter'],
  '@opentelemetry/semantic-conventions': ['converter', 'test-reports'],
}

/** The modules that a pure package must not import. */
const forbiddenModules: Record<string, RegExp> = {
  json: /^node:/,
  otlp: /^node:/,
  converter: /^node:(?!crypto$)/,
  forges: /^node:(?!crypto$)/,
  'test-reports': /^node:/,
}

/** Returns the package of an import: `@penstock/otlp` → otlp, `@scope/name/deep` → `@scope/name`. */
function libraryOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** The entries of packages that have more than one, such as `@penstock/forges/record`. */
const entries = new Set(
  packages.flatMap((name) => {
    const { exports = {} } = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')) as {
      exports?: Record<string, unknown>
    }
    return Object.keys(exports).map((path) => `@penstock/${name}${path.slice(1)}`)
  }),
)

test('every package has a row', () => {
  expect(Object.keys(mayImport).sort()).toEqual([...packages].sort())
})

describe.each(packages)('%s', (name) => {
  const manifest = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>
    devDependencies?: Record<string, string>
  }
  const allowed = mayImport[name] ?? []
  const sources = sourcesOf(name)
  const foreign = (imports: readonly string[]) => imports.filter((specifier) => !/^(\.|node:)/.test(specifier))

  test('declares only what it may import', () => {
    const workspace = Object.keys(manifest.dependencies ?? {}).filter((library) => library.startsWith('@penstock/'))
    expect(workspace.filter((library) => !allowed.includes(library.slice('@penstock/'.length)))).toEqual([])
  })

  test('imports only what it declares and may import', () => {
    const strays = sources
      .filter(({ file }) => !isTest(file))
      .flatMap(({ file, imports }) =>
        foreign(imports)
          .map(libraryOf)
          .filter((library) => {
            if (manifest.dependencies?.[library] === undefined) return true
            if (library.startsWith('@penstock/')) return !allowed.includes(library.slice('@penstock/'.length))
            return !owners[library]?.includes(name)
          })
          .map((library) => `${file}: ${library}`),
      )
    expect(strays).toEqual([])
  })

  test('imports other packages by their entries, never by another path', () => {
    const deep = sources.flatMap(({ imports }) => imports.filter((specifier) => /^@penstock\/[^/]+\//.test(specifier)))
    expect(deep.filter((specifier) => !entries.has(specifier))).toEqual([])
  })

  const listed = /^Packages: (.*`)\.$/m.exec(readFileSync(join(root, 'packages', name, 'README.md'), 'utf8'))?.[1]
  if (listed !== undefined)
    test('its README lists the packages that it may import', () => {
      const names = listed.replaceAll(/ \([^)]*\)/g, '').split(', ')
      expect(names.sort()).toEqual(allowed.map((each) => `\`${each}\``).sort())
    })

  test('uses every declared dependency', () => {
    const used = new Set(sources.flatMap(({ imports }) => foreign(imports).map(libraryOf)))
    const declared = Object.keys(manifest.dependencies ?? {})
    expect(declared.filter((library) => !used.has(library))).toEqual([])
  })
})

test.each(Object.entries(forbiddenModules))('%s uses no files, sockets, clocks or random numbers', (name, world) => {
  const strays = sourcesOf(name)
    .filter(({ file }) => !isTest(file))
    .flatMap(({ file, imports }) => {
      const source = readFileSync(join(root, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
      const ambient = source.match(/\b(?:Date\.now|new Date\(\)|Math\.random|process\.|performance\.now)/g) ?? []
      return [...imports.filter((specifier) => world.test(specifier)), ...ambient].map((what) => `${file}: ${what}`)
    })
  expect(strays).toEqual([])
})

test('the converter knows the form of a record, and no forge', () => {
  const strays = sourcesOf('converter')
    .filter(({ file }) => !isTest(file))
    .flatMap(({ file, imports }) => imports.map((specifier) => `${file}: ${specifier}`))
    .filter((line) => line.endsWith(': @penstock/forges'))
  expect(strays).toEqual([])
})

/** Returns the folders in the first table of a package in the page on architecture. */
function listedFolders(name: string): string[] {
  const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8')
  const [, section = ''] = page.split(`\n### ${name}\n`)
  return [...section.split('\n### ')[0]!.matchAll(/^\| `([\w/-]+?)\/?` \|/gm)].map(([, folder]) => folder!)
}

test('a folder of the core imports only folders above it in the table of the page on architecture', () => {
  const order = listedFolders('core')
  expect(order.length).toBeGreaterThan(10)
  const isIn = (folder: string, row: string) => folder === row || folder.startsWith(`${row}/`)
  /** The place of a folder: the row with the longest name that it lies in. */
  const rank = (folder: string) => {
    const [row] = order.filter((each) => isIn(folder, each)).sort((a, b) => b.length - a.length)
    return row === undefined ? -1 : order.indexOf(row)
  }
  const folders = folderGraph(fileGraph(sourcesOf('core').filter(({ file }) => !isTest(file))))
  expect([...folders.keys()].filter((folder) => rank(folder) < 0)).toEqual(['.', 'migrations'])
  const strays = [...folders].flatMap(([from, targets]) =>
    rank(from) < 0
      ? []
      : [...targets].filter((to) => rank(to) < 0 || rank(to) > rank(from)).map((to) => `${from} imports ${to}`),
  )
  expect(strays).toEqual([])
})

test('a folder of the gateway imports only folders above it in the table of the page on architecture', () => {
  const order = listedFolders('gateway')
  const folders = folderGraph(fileGraph(sourcesOf('gateway').filter(({ file }) => !isTest(file))))
  expect([...folders.keys()].sort()).toEqual(order.toSorted())
  const strays = [...folders].flatMap(([from, targets]) =>
    [...targets].filter((to) => order.indexOf(to) > order.indexOf(from)).map((to) => `${from} imports ${to}`),
  )
  expect(strays).toEqual([])
})

test('the console imports only the critical path from observe', () => {
  const imports = sourcesOf('web').flatMap((source) => source.imports)
  expect(new Set(imports.filter((specifier) => specifier.startsWith('@penstock/')))).toEqual(
    new Set(['@penstock/observe/critical-path']),
  )
})

test('the areas of GraphQL pass the facts of the request on to operations', () => {
  const strays = sourcesOf('graphql')
    .filter(({ file }) => /\/areas\//.test(file) && !isTest(file))
    .flatMap(({ file }) => {
      const source = readFileSync(join(root, file), 'utf8')
      return /\bperform\(/.test(source) ? `${file} calls perform instead of performIn or readOrNull` : []
    })
  expect(strays).toEqual([])
})
