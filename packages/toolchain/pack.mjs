#!/usr/bin/env node
/*
 * Writes the files of a release into a directory: the packages `penstock`, `@penstock/converter`, `@penstock/forges`,
 * `@penstock/otlp` and `@penstock/json` as npm packs them, a bill of materials of `penstock`, and the checksums of these files.
 *
 *   node pack.mjs [directory]   the default is `dist` in the checkout; the directory is emptied first
 *
 * The manifests in the checkout are marked as private, so that nothing is published from there by mistake. This script writes the
 * manifests that are published. Run it after set-up.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { installedClosure, licencesText, thirdPartyPackage } from './third-party.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
const packages = join(root, 'packages')
const read = (path) => JSON.parse(readFileSync(path, 'utf8'))
const { version, description, engines, license } = read(join(root, 'package.json'))
/** The packages that are published with their own modules and types, not as part of a bundle. */
const libraries = ['converter', 'forges', 'otlp', 'json']
const CHECKSUMS = 'SHA256SUMS'

const target = resolve(process.argv[2] ?? join(root, 'dist'))
rmSync(target, { recursive: true, force: true })
mkdirSync(target, { recursive: true })
const staging = mkdtempSync(join(tmpdir(), 'penstock-pack-'))
try {
  pack(stageCommand(join(staging, 'penstock')))
  for (const name of libraries) pack(stageLibrary(name, join(staging, name)))
  writeFileSync(join(target, 'sbom.cdx.json'), `${JSON.stringify(billOfMaterials(), undefined, 2)}\n`)
  const lines = readdirSync(target)
    .toSorted()
    .map(
      (file) =>
        `${createHash('sha256')
          .update(readFileSync(join(target, file)))
          .digest('hex')}  ${file}`,
    )
  writeFileSync(join(target, CHECKSUMS), `${lines.join('\n')}\n`)
  for (const file of readdirSync(target)) console.log(join(target, file))
} catch (error) {
  console.error(`pack: ${error.message}`)
  process.exitCode = 1
} finally {
  rmSync(staging, { recursive: true, force: true })
}

/** Writes the package `penstock` into a directory: the bundled command with the files that it reads, and the licences of its parts. */
function stageCommand(directory) {
  const { joined, installed } = bundledPackages()
  cpSync(join(packages, 'cli/bin'), join(directory, 'bin'), { recursive: true })
  cpSync(join(packages, 'cli/dist/bundle'), join(directory, 'dist/bundle'), {
    recursive: true,
    filter: (path) => path !== join(packages, 'cli/dist/bundle/packages.json'),
  })
  // `penstock doctor` reads it.
  writeFileSync(join(directory, 'dist/bundle/installation.txt'), 'package\n')
  cpSync(join(root, 'packaging/npm/penstock.md'), join(directory, 'README.md'))
  const others = [...joined, ...consolePackages()].map(thirdPartyPackage)
  writeFileSync(join(directory, 'THIRD-PARTY-LICENCES.txt'), licencesText(others))
  writeManifest(directory, {
    name: 'penstock',
    ...{ version, description, license, type: 'module', engines },
    bin: { penstock: 'bin/penstock.mjs' },
    files: ['bin', 'dist', 'THIRD-PARTY-LICENCES.txt'],
    dependencies: Object.fromEntries(installed.map((name) => [name, lockedVersion(name)])),
    allowScripts: { argon2: true, 'better-sqlite3': true },
  })
  requireNoTraces(directory)
  return directory
}

/** Writes a library into a directory: its modules and types, and a manifest with exact versions of our other packages. */
function stageLibrary(name, directory) {
  const { name: fullName, description, exports, dependencies = {} } = read(join(packages, name, 'package.json'))
  const built = join(packages, name, 'dist')
  for (const file of readdirSync(built, { recursive: true, encoding: 'utf8' }).filter((each) =>
    /\.(?:js|d\.ts)$/.test(each),
  )) {
    const text = readFileSync(join(built, file), 'utf8').replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n')
    mkdirSync(dirname(join(directory, 'dist', file)), { recursive: true })
    writeFileSync(join(directory, 'dist', file), text)
  }
  cpSync(join(root, `packaging/npm/${name}.md`), join(directory, 'README.md'))
  const ours = (needed) => needed.startsWith('@penstock/')
  writeManifest(directory, {
    name: fullName,
    ...{ version, description, license, type: 'module', engines, sideEffects: false },
    // The sources are not published.
    exports: Object.fromEntries(Object.entries(exports).map(([path, { source, ...built }]) => [path, built])),
    files: ['dist'],
    dependencies: Object.fromEntries(
      Object.entries(dependencies).map(([needed, range]) => [needed, ours(needed) ? version : range]),
    ),
  })
  requireNoTraces(directory)
  return directory
}

function writeManifest(directory, manifest) {
  writeFileSync(join(directory, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
}

/** Packs a directory into a tarball in the target directory. */
function pack(directory) {
  npm(['pack', directory, '--pack-destination', target, '--ignore-scripts'])
}

/** Returns the directories of the packages in the bundle, and the names of those that must be installed beside it. */
function bundledPackages() {
  const { joined, installed } = read(join(packages, 'cli/dist/bundle/packages.json'))
  return { joined: joined.map((path) => join(root, path)), installed }
}

/**
 * Returns the directories of the third-party packages in the files of the console, which Vite bundles. What the console imports from
 * packages of Penstock imports no library.
 */
function consolePackages() {
  const web = join(packages, 'web')
  const found = new Set()
  const names = Object.keys(read(join(web, 'package.json')).dependencies)
  for (const name of names.filter((each) => !each.startsWith('@penstock/'))) installedClosure(name, web, found)
  return [...found]
}

/** Returns the version in the lock file, which is the tested one. */
function lockedVersion(name) {
  const entry = read(join(root, 'package-lock.json')).packages[`node_modules/${name}`]
  if (entry === undefined) throw new Error(`the lock file has no ${name}`)
  return entry.version
}

/**
 * Returns the bill of materials of `penstock`: the packages in its bundle and in the console, and those that npm installs beside
 * them. They are selected from npm's list of the whole lock file, because `--omit=dev` also leaves out packages that both
 * production and development need.
 */
function billOfMaterials() {
  const {
    serialNumber: _,
    metadata,
    components,
    dependencies,
    ...bill
  } = JSON.parse(npm(['sbom', '--sbom-format=cyclonedx', '--package-lock-only']))
  const { joined, installed } = bundledPackages()
  const directories = new Set([...joined, ...consolePackages()])
  for (const name of installed) installedClosure(name, root, directories)
  const needed = new Set(
    [...directories]
      .map((directory) => read(join(directory, 'package.json')))
      .map(({ name, version }) => `${name}@${version}`),
  )
  const byRef = new Map(components.map((component) => [component['bom-ref'], component]))
  const unlisted = [...needed].filter((ref) => !byRef.has(ref))
  if (unlisted.length > 0) throw new Error(`the bill of materials lacks ${unlisted.join(', ')}`)
  const edges = [...new Map(dependencies.map((row) => [row.ref, row])).values()]
    .filter(({ ref }) => needed.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => needed.has(each)) }))
  const below = new Set(edges.flatMap(({ dependsOn }) => dependsOn))
  const own = metadata.component['bom-ref']
  return {
    ...bill,
    metadata: {
      ...metadata,
      timestamp: timeOfSources(),
      // npm uses the name of the directory of the checkout.
      component: { ...metadata.component, type: 'application', name: 'penstock', properties: [] },
    },
    components: [...needed].toSorted().map((ref) => byRef.get(ref)),
    dependencies: [{ ref: own, dependsOn: [...needed].filter((ref) => !below.has(ref)).toSorted() }, ...edges],
  }
}

/** Returns the time of SOURCE_DATE_EPOCH, or else of the commit, so that the same sources give the same files. */
function timeOfSources() {
  const given = process.env.SOURCE_DATE_EPOCH
  const seconds = given ?? spawnSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }).stdout
  return new Date(Number(seconds) * 1000).toISOString()
}

/**
 * Checks that the files contain nothing of this machine.
 *
 * @throws {Error} if a file names the checkout, the staging directory or a source map
 */
function requireNoTraces(directory) {
  for (const file of readdirSync(directory, { recursive: true, encoding: 'utf8', withFileTypes: true })) {
    if (!file.isFile()) continue
    const path = join(file.parentPath, file.name)
    const text = readFileSync(path, 'latin1')
    const trace = [root, staging].find((each) => text.includes(each)) ?? /^\/\/# sourceMappingURL=.*/m.exec(text)?.[0]
    if (trace !== undefined) throw new Error(`${relative(directory, path)} names ${trace}`)
  }
}

/** Runs npm in the checkout, and returns its output. */
function npm(args) {
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20 })
  if (status !== 0) throw new Error(`npm ${args[0]} failed: ${stderr}`)
  return stdout
}
