// Prepares a checkout: installs dependencies for the running Node, builds its native module, the packages, the console and the program. Steps that are
// already done are skipped. It needs only Node and npm.
//   node setup.mjs           everything
//   node setup.mjs program   what `penstock` needs: no tools of tests are installed, no types are checked, and the packages are not
//                            compiled one by one
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { keepModule, moduleInPackage, toCachedModule } from './compiled-sqlite.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
const minimum = [20, 19]
const isProgramOnly = process.argv[2] === 'program'
/**
 * The headers of Node 24.19 and later add a clean-up hook to native objects. With the headers of 24.21, the process
 * crashed when such an object was collected. Modules compiled with the headers of 24.18 have no hook and run on 24.21.
 */
const headersWithoutCleanupHook = { 24: '24.18.0' }

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < minimum[0] || (major === minimum[0] && minor < minimum[1])) {
  fail(`Penstock needs Node ${minimum.join('.')} or newer; this is ${process.version}.`)
}
installDependencies()
// It takes longest, and the other steps do not need it.
const databaseModule = ensureDatabaseModule()
if (!isProgramOnly)
  await run('node_modules/.bin/tsc', ['-b', '--pretty'], 'The build failed; see the errors of the compiler above.')
await run(
  'node_modules/.bin/vite',
  ['build', '--logLevel', 'warn', 'packages/web'],
  'The console could not be built; see above.',
)
await import('./bundle.mjs')
await databaseModule

/**
 * Installs the dependencies unless they were installed for the same lock file and platform. Those of the tests take half of the time,
 * and the program needs none of them. All are the same for every Node, except for better-sqlite3, which `ensureDatabaseModule` tries out.
 */
function installDependencies() {
  const stampPath = join(root, 'node_modules/.cache/penstock-setup')
  const lock = readFileSync(join(root, 'package-lock.json'))
  const stamp = `${createHash('sha256').update(lock).digest('hex')} ${process.platform}-${process.arch}`
  const programStamp = `${stamp} program`
  const installed = existsSync(stampPath) ? readFileSync(stampPath, 'utf8') : undefined
  if (installed === stamp || (isProgramOnly && installed === programStamp)) return
  console.log('Installing dependencies …')
  // better-sqlite3 is built afterwards, and the other packages contain built modules for the usual platforms.
  const omitted = isProgramOnly ? ['--omit=dev'] : []
  if (!npmSync(['ci', '--no-audit', '--no-fund', '--ignore-scripts', ...omitted])) {
    fail('npm could not install the dependencies; see its message above.')
  }
  if (!runs("require('argon2')") && !npmSync(['rebuild', 'argon2'], headersOfRunningNode())) {
    fail('argon2 could not be built; see the message of npm above.')
  }
  mkdirSync(dirname(stampPath), { recursive: true })
  writeFileSync(stampPath, isProgramOnly ? programStamp : stamp)
}

/** Builds better-sqlite3 if it cannot be used, for example because it was compiled for another Node. */
async function ensureDatabaseModule() {
  if (databaseModuleWorks()) return
  const older = headersWithoutCleanupHook[major]
  const directory = join(root, 'node_modules/better-sqlite3')
  const { version } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  const cached = toCachedModule(version, older ?? process.versions.node)
  const compiled = join(directory, moduleInPackage)
  if (existsSync(cached)) {
    mkdirSync(dirname(compiled), { recursive: true })
    // The file may be a link that other checkouts share.
    rmSync(compiled, { force: true })
    copyFileSync(cached, compiled)
    if (databaseModuleWorks()) return
  }
  console.log('Building better-sqlite3 for this Node …')
  const headers =
    older === undefined
      ? (headersOfRunningNode() ?? downloadedHeaders(process.versions.node))
      : downloadedHeaders(older)
  await exitCode(spawn('npm', ['rebuild', 'better-sqlite3'], npmOptions(headers)))
  if (!databaseModuleWorks()) {
    fail(
      'better-sqlite3 does not work: install a C++ compiler, make and Python 3, because no prebuilt binary is available.',
    )
  }
  try {
    keepModule(compiled, cached)
  } catch (error) {
    console.log(`The next set-up builds better-sqlite3 again: ${error.message}`)
  }
}

/** Returns whether the module loads and survives the garbage collection of its statements. Only a natural collection reproduces the crash. */
function databaseModuleWorks() {
  return runs(`
    const database = new (require('better-sqlite3'))(':memory:')
    database.exec('create table kept (id text, bytes blob)')
    for (let count = 0; count < 20000; count += 1) {
      database.prepare('insert into kept values (?, ?)').run(String(count), Buffer.alloc(32, 1))
    }
    database.close()`)
}

/** Returns whether a program ends without an error. */
function runs(program) {
  return spawnSync(process.execPath, ['-e', program], { cwd: root, stdio: 'ignore' }).status === 0
}

/** Returns the directory with the headers of the running Node, so that node-gyp need not download them. */
function headersOfRunningNode() {
  const prefix = join(dirname(process.execPath), '..')
  return existsSync(join(prefix, 'include/node/node.h')) ? prefix : undefined
}

/** Installs the npm package of Node for this platform and returns the directory with its headers. */
function downloadedHeaders(version) {
  const name = `node-${process.platform}-${process.arch}@${version}`
  const directory = join(root, 'node_modules/.cache/node-headers')
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  console.log(`Fetching the headers in ${name} …`)
  const installed = spawnSync('npm', ['install', '--no-save', '--ignore-scripts', '--prefix', directory, name], {
    stdio: 'ignore',
    shell: process.platform === 'win32',
  })
  const prefix = join(directory, 'node_modules', name.slice(0, name.indexOf('@')))
  return installed.status === 0 && existsSync(join(prefix, 'include/node/node.h')) ? prefix : undefined
}

/** Runs npm, and returns whether it succeeded. */
function npmSync(args, nodedir) {
  return spawnSync('npm', args, npmOptions(nodedir)).status === 0
}

function npmOptions(nodedir) {
  const env = { ...process.env, ...(nodedir !== undefined && { npm_config_nodedir: nodedir }) }
  return { cwd: root, env, stdio: 'inherit', shell: process.platform === 'win32' }
}

async function run(command, args, message) {
  if ((await exitCode(spawn(join(root, command), args, { cwd: root, stdio: 'inherit' }))) !== 0) fail(message)
}

async function exitCode(child) {
  const [code] = await once(child, 'exit')
  return code
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
