#!/usr/bin/env node
/*
 * Makes ready what the interoperability and contract tests run beside Node: a virtual environment with the OpenTelemetry SDK
 * for Python, python-gitlab and the library of Standard Webhooks, one with schemathesis, a small Go program with the SDK for
 * Go, one that calls client-go, one with the types of clients of other forges, h2spec, and the programs that use the core's API
 * (test/interop/programs). Prints their paths as
 * a line of JSON.
 *
 *   node prepare.mjs                 creates them unless the cache has them
 *   node prepare.mjs --print-paths   only prints their paths, even if they do not exist
 *
 * Each cache entry is named by the hash of what it is made from, so an edit makes another one. The path rule lives here
 * alone; the tests ask for it.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { homedir, setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import { buildEnvironment } from '../../packages/toolchain/pinned-program.mjs'
import { completeIn, makeEnvironment, pythonIn } from '../../packages/toolchain/python-environment.mjs'
import { ansibleVersion, glabVersion, installCollection, installGlab } from './programs/install.mjs'

const here = import.meta.dirname
const cacheRoot = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'penstock')
const requirements = join(here, 'python', 'requirements.txt')
const schemathesisRequirements = join(here, '..', 'schemathesis', 'requirements.txt')
const ansibleRequirements = join(here, 'programs', 'ansible', 'requirements.txt')
const gitlabformRequirements = join(here, 'programs', 'gitlabform', 'requirements.txt')
const sourcesIn = (directory, ...files) => [...files, 'go.mod', 'go.sum'].map((file) => join(here, directory, file))

const pythonHome = join(cacheRoot, `interop-python-${hashOf([requirements])}`)
const schemathesisHome = join(cacheRoot, `schemathesis-${hashOf([schemathesisRequirements])}`)
const ansibleHome = join(cacheRoot, `ansible-${hashOf([ansibleRequirements])}`)
const gitlabformHome = join(cacheRoot, `gitlabform-${hashOf([gitlabformRequirements])}`)
const glabHome = join(cacheRoot, `glab-${glabVersion}`)
const collections = join(cacheRoot, `ansible-collections-${ansibleVersion}`)
const go = join(cacheRoot, `interop-go-${hashOf(sourcesIn('go', 'main.go', 'calls.go'))}`, 'interop')
const goClient = join(cacheRoot, `client-go-${hashOf(sourcesIn('client-go', 'main.go', 'webhooks.go'))}`, 'client')
const forgeTypes = join(cacheRoot, `forge-types-${hashOf(sourcesIn('forge-types', 'main.go'))}`, 'forge-types')
const h2spec = join(cacheRoot, `h2spec-${hashOf(sourcesIn('h2spec'))}`, 'h2spec')
const paths = {
  python: pythonIn(pythonHome),
  pythonIsComplete: completeIn(pythonHome),
  schemathesis: join(schemathesisHome, 'bin', 'schemathesis'),
  schemathesisIsComplete: completeIn(schemathesisHome),
  go,
  goClient,
  forgeTypes,
  h2spec,
  glab: join(glabHome, 'usr', 'bin', 'glab'),
  ansible: join(ansibleHome, 'bin'),
  ansibleIsComplete: completeIn(ansibleHome),
  ansibleCollections: collections,
  gitlabform: join(gitlabformHome, 'bin'),
  gitlabformIsComplete: completeIn(gitlabformHome),
}

const failures = process.argv.includes('--print-paths') ? [] : makeAll()
for (const failure of failures) console.error(`interop: ${failure}`)
if (failures.length > 0) process.exitCode = 1
else console.log(JSON.stringify(paths))

function hashOf(files) {
  const hash = createHash('sha256')
  for (const file of files) hash.update(readFileSync(file)).update('\0')
  return hash.digest('hex').slice(0, 16)
}

/** Creates all clients. Each step returns the reason of its failure. */
function makeAll() {
  return [
    makePython(pythonHome, requirements, 'the OpenTelemetry SDK for Python, python-gitlab and Standard Webhooks'),
    makePython(schemathesisHome, schemathesisRequirements, 'schemathesis'),
    makeGo(go, 'go', 'the exporters in Go'),
    makeGo(goClient, 'client-go', 'a program that calls client-go'),
    makeGo(forgeTypes, 'forge-types', 'the types of clients of other forges'),
    makeGo(h2spec, 'h2spec', 'h2spec', 'github.com/summerwind/h2spec/cmd/h2spec'),
    makePython(gitlabformHome, gitlabformRequirements, 'gitlabform and gitlabber'),
    makePython(ansibleHome, ansibleRequirements, 'ansible') ??
      installCollection(collections, pythonIn(ansibleHome), run),
    installGlab(glabHome, run),
  ].filter(Boolean)
}

function makePython(home, required, what) {
  if (existsSync(completeIn(home))) return undefined
  console.error(`interop: installing ${what}`)
  mkdirSync(cacheRoot, { recursive: true })
  return makeEnvironment(home, required, run, ['--no-deps'])
}

function makeGo(program, directory, what, packagePath = '.') {
  if (existsSync(program)) return undefined
  console.error(`interop: building ${what}`)
  mkdirSync(dirname(program), { recursive: true })
  setPriority(10) // the compiler inherits it, so that a build does not slow down other programs
  const aside = `${program}.${process.pid}`
  const failure = run(
    'go',
    ['build', '-ldflags=-s -w', '-o', aside, packagePath],
    join(here, directory),
    buildEnvironment,
  )
  if (failure === undefined) renameSync(aside, program)
  return failure
}

function run(command, args, cwd = here, env = process.env) {
  const { error, status, stderr, stdout } = spawnSync(command, args, { cwd, env, encoding: 'utf8' })
  if (error?.code === 'ENOENT') return `${command} is not installed`
  if (error !== undefined) return `could not start ${command}: ${error.message}`
  return status === 0 ? undefined : `${command} ${args.join(' ')}: ${(stderr || stdout).trim()}`
}
