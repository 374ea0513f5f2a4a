// Joins the sources of the packages and their dependencies into the few files of packages/cli/dist/bundle, from which `penstock` starts
// with a third of the processor time that the separate modules take. Native modules stay outside. Skipped if no source has changed since
// the last time.
// packages.json in the same directory lists the packages that were joined, and those that must be installed beside it.
import { cpSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const packages = fileURLToPath(new URL('../', import.meta.url))
const root = join(packages, '..')
const directory = join(packages, 'cli/dist/bundle')
/** Modules that are compiled for one platform, or that load their own files. They must be installed beside the bundle. */
const installed = ['@asciidoctor/core', 'argon2', 'better-sqlite3']
/** A module that a dependency uses if someone has installed it. */
const optional = ['pg-native']
/** Directories that the program reads: the module that names each one, and the directory. */
const resources = {
  console: {
    module: 'web/console-directory.js',
    exported: 'consoleDirectory',
    from: join(packages, 'web/dist/console'),
  },
  pipelines: {
    module: 'cli/src/samples-directory.ts',
    exported: 'samplesDirectory',
    from: join(root, 'fixtures/pipelines'),
  },
}

/**
 * Entry points of dependencies, reduced to what the packages use. The full ones load all their modules, which takes a tenth of the
 * start. The bundle cannot be built if an export is missing.
 */
const reduced = {
  'node_modules/undici/index.js': `
    import api from './lib/api/index.js'
    import Dispatcher from './lib/dispatcher/dispatcher.js'
    Object.assign(Dispatcher.prototype, api)
    export { default as errors } from './lib/core/errors.js'
    export { default as buildConnector } from './lib/core/connect.js'
    export { default as Agent } from './lib/dispatcher/agent.js'
    export { default as Pool } from './lib/dispatcher/pool.js'
    export { default as DecoratorHandler } from './lib/handler/decorator-handler.js'`,
  'node_modules/rate-limiter-flexible/index.js': `
    export { default as RateLimiterPostgres } from './lib/RateLimiterPostgres.js'`,
}

const sources = [...filesBelow(packages)].filter((path) => /^[^/]+\/(src\/.*\.(?:ts|json)|[^/]+\.js)$/.test(path))
if (newestOf(sources.map((path) => join(packages, path))) > modifiedAt(join(directory, 'main.js'))) await bundle()
for (const [name, { from }] of Object.entries(resources)) cpSync(from, join(directory, name), { recursive: true })

async function bundle() {
  const bundle = await rolldown({
    input: entries(),
    // Comments of the output name the modules relative to this directory.
    cwd: root,
    platform: 'node',
    external: [...installed, ...optional],
    resolve: { conditionNames: ['source', 'node', 'default'] },
    plugins: [{ name: 'resources', load: (id) => resourceModule(id) ?? reduced[relative(root, id)] }],
    // One of the dependencies evaluates a constant string.
    checks: { eval: false },
  })
  const fresh = `${directory}.${process.pid}`
  const { output } = await bundle.write({
    dir: fresh,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    // Names stay, for stack traces. Shorter ones change neither the time nor the memory.
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
    plugins: [{ name: 'ascii', generateBundle: (_options, chunks) => Object.values(chunks).forEach(toAscii) }],
  })
  const joined = [...new Set(output.flatMap(({ moduleIds = [] }) => moduleIds).flatMap(packageDirectory))].toSorted()
  writeFileSync(join(fresh, 'packages.json'), `${JSON.stringify({ joined, installed }, undefined, 2)}\n`)
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(join(directory, '..'), { recursive: true })
  renameSync(fresh, directory)
}

/**
 * Returns the modules that are started or imported by their file name: the program, its threads, which are beside the module that
 * starts them, and the migrations. They keep their names.
 */
function entries() {
  const threads = sources.filter((path) => /-(worker|thread)\.ts$/.test(path))
  const migrations = sources.filter((path) => /^core\/src\/migrations\/\d[^.]+\.ts$/.test(path))
  return {
    main: join(packages, 'cli/src/main.ts'),
    ...Object.fromEntries(threads.map((path) => [basename(path, '.ts'), join(packages, path)])),
    ...Object.fromEntries(migrations.map((path) => [`migrations/${basename(path, '.ts')}`, join(packages, path)])),
  }
}

/**
 * Replaces all characters of a chunk that are not ASCII by their escapes. V8 keeps the text of a module in memory, with two bytes per
 * character if one of them needs two.
 */
function toAscii(chunk) {
  if (/String\.raw`[^`]*[^\0-\x7f]/.test(chunk.code)) throw new Error(`${chunk.fileName}: a raw text would change`)
  chunk.code = chunk.code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Returns the text of a module that names a directory, with the place of the directory in the bundle. */
function resourceModule(id) {
  const found = Object.entries(resources).find(([, { module }]) => id === join(packages, module))
  if (found === undefined) return null
  const [name, { exported }] = found
  return `import { fileURLToPath } from 'node:url'
export const ${exported} = fileURLToPath(new URL('${name}', import.meta.url))`
}

/** Returns the directory of the installed package that a module belongs to, relative to the root; nothing for a module of ours. */
function packageDirectory(id) {
  const found = /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)
  return found === null ? [] : [relative(root, found[1])]
}

function* filesBelow(parent, path = '') {
  for (const entry of readdirSync(join(parent, path), { withFileTypes: true })) {
    const name = join(path, entry.name)
    if (entry.isFile()) yield name
    else if (entry.isDirectory() && !['node_modules', 'dist'].includes(entry.name)) yield* filesBelow(parent, name)
  }
}

function newestOf(paths) {
  return Math.max(...paths.map(modifiedAt))
}

function modifiedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
