import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { describe, expect, test } from 'vitest'

/** The packages that each package may import. `cli` may import all of these, and no package imports `cli`. */
const mayImport: Record<string, readonly string[]> = {
  json: [],
  runtime: [],
  otlp: ['json'],
  db: [],
  converter: ['otlp'],
  delivery: ['db', 'runtime'],
  exporter: ['converter', 'db', 'delivery', 'http', 'json', 'otlp', 'runtime'],
  http: ['json', 'runtime'],
  core: ['db', 'runtime'],
  rest: ['core', 'http', 'json', 'runtime'],
  graphql: ['core', 'http', 'json', 'runtime'],
  observe: ['db', 'http', 'json', 'otlp', 'runtime'],
  gateway: ['db', 'http', 'json', 'otlp', 'runtime'],
  cli: [
    'converter',
    'core',
    'db',
    'delivery',
    'exporter',
    'gateway',
    'graphql',
    'http',
    'json',
    'observe',
    'otlp',
    'rest',
    'runtime',
  ],
  testkit: ['core', 'db', 'runtime'],
}

/** The packages that may import each external library. Other packages may import it only in tests. */
const owners: Record<string, readonly string[]> = {
  'better-sqlite3': ['db'],
  pg: ['db'],
  kysely: ['core', 'db', 'delivery', 'exporter', 'gateway', 'observe'],
  undici: ['delivery', 'gateway'],
  'ipaddr.js': ['delivery'],
  busboy: ['http'],
  koa: ['http'],
  '@koa/router': ['http'],
  zod: ['core', 'exporter', 'http', 'gateway', 'graphql', 'observe', 'rest'],
  graphql: ['graphql'],
  'graphql-yoga': ['graphql'],
  '@graphql-yoga/render-graphiql': ['graphql'],
  '@graphql-tools/utils': ['graphql'],
  '@pothos/core': ['graphql'],
  dataloader: ['graphql'],
  'isomorphic-git': ['core'],
  'rate-limiter-flexible': ['rest'],
  argon2: ['core', 'gateway'],
  pino: ['runtime'],
  commander: ['cli'],
  'fast-check': ['testkit'],
  '@opentelemetry/api': ['converter', 'gateway'],
  '@opentelemetry/core': ['converter'],
  '@opentelemetry/resources': ['converter', 'gateway'],
  '@opentelemetry/exporter-metrics-otlp-proto': ['gateway'],
  '@opentelemetry/sdk-logs': ['converter'],
  '@opentelemetry/sdk-metrics': ['converter', 'gateway'],
  '@opentelemetry/sdk-trace-base': ['converter'],
  '@opentelemetry/semantic-conventions': ['converter'],
}

/** The modules that a pure package must not import. */
const forbiddenModules: Record<string, RegExp> = {
  json: /^node:/,
  otlp: /^node:/,
  converter: /^node:(?!crypto$)/,
}

/** The packages in which files, and folders of `src`, import each other in one direction only. */
const withoutCycles = ['db', 'delivery', 'gateway', 'http', 'json', 'observe', 'rest', 'runtime', 'testkit']

const root = join(import.meta.dirname, '..')
/** The packages with a layer. `toolchain` has none. */
const packages = readdirSync(join(root, 'packages')).filter((name) => name !== 'toolchain')

const isTest = (file: string): boolean => /\.(test|case|harness|bench)\.ts$/.test(file)

function sourcesOf(name: string): { file: string; imports: string[] }[] {
  const directory = join(root, 'packages', name, 'src')
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => ({ file: join(directory, file), imports: importsOf(readFileSync(join(directory, file), 'utf8')) }))
}

function importsOf(source: string): string[] {
  const statements = source.matchAll(
    /^(?:(?:import|export|\})[^'\n]*\bfrom|import) '([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gm,
  )
  return [...statements].map((match) => match[1] ?? match[2] ?? '')
}

/** Returns the package of an import: `@penstock/otlp` → otlp, `@scope/name/deep` → `@scope/name`. */
function libraryOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

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
          .map((library) => `${relative(root, file)}: ${library}`),
      )
    expect(strays).toEqual([])
  })

  test('imports other packages by their entry, never by a path', () => {
    const deep = sources.flatMap(({ imports }) => imports.filter((specifier) => /^@penstock\/[^/]+\//.test(specifier)))
    expect(deep).toEqual([])
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
      const source = readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
      const ambient = source.match(/\b(?:Date\.now|new Date\(\)|Math\.random|process\.|performance\.now)/g) ?? []
      return [...imports.filter((specifier) => world.test(specifier)), ...ambient].map(
        (what) => `${relative(root, file)}: ${what}`,
      )
    })
  expect(strays).toEqual([])
})

describe.each(withoutCycles)('%s has no import cycle', (name) => {
  const directory = join(root, 'packages', name, 'src')
  const edges = sourcesOf(name)
    .filter(({ file }) => !isTest(file))
    .flatMap(({ file, imports }) =>
      imports
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => [relative(directory, file), relative(directory, join(dirname(file), specifier))] as const),
    )

  test('among its files', () => {
    expect(findCycle(edges)).toBeUndefined()
  })

  test('among its folders', () => {
    const folders = edges.map(([from, to]) => [folderOf(from), folderOf(to)] as const)
    const between = folders.filter(([from, to]) => from !== undefined && to !== undefined && from !== to)
    expect(findCycle(between as [string, string][])).toBeUndefined()
  })
})

/** Returns the folder of `src` that contains a file; `undefined` for a file of `src` itself. */
function folderOf(file: string): string | undefined {
  const [folder, ...rest] = file.split(sep)
  return rest.length === 0 ? undefined : folder
}

/** Returns a path that ends where it begins, or `undefined` if there is none. */
function findCycle(edges: readonly (readonly [string, string])[]): readonly string[] | undefined {
  const targets = new Map<string, string[]>()
  for (const [from, to] of edges) targets.set(from, [...(targets.get(from) ?? []), to])
  const finished = new Set<string>()
  const visit = (node: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node]
    if (finished.has(node)) return undefined
    for (const next of targets.get(node) ?? []) {
      const cycle = visit(next, [...path, node])
      if (cycle !== undefined) return cycle
    }
    finished.add(node)
    return undefined
  }
  for (const start of targets.keys()) {
    const cycle = visit(start, [])
    if (cycle !== undefined) return cycle
  }
  return undefined
}
