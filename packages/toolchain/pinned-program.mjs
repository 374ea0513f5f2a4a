/*
 * Go programs that the tests start, built once into the user's cache.
 *
 * The name of a program's cache directory contains the hash of its manifest, so a changed manifest leads to another
 * binary, and switching branches rebuilds nothing. Only this module knows the paths; the tests ask the build scripts.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { homedir, setPriority } from 'node:os'
import { dirname, join } from 'node:path'

const cacheRoot = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'penstock')

/**
 * Flags of Go's compiler that save a third of its processor time: it inlines nothing, and writes no tables for debuggers. The programs
 * only serve tests, so their own speed matters less.
 */
export const compilerFlags = 'all=-l -dwarf=false'

/**
 * The environment of Go in a build. All builds have the same flags, because otherwise each would compile Go's own library again. The
 * compiler collects its garbage less often, because it ends within seconds.
 */
export const buildEnvironment = {
  ...process.env,
  GOFLAGS: `${process.env.GOFLAGS ?? ''} -trimpath '-gcflags=${compilerFlags}'`.trim(),
  GOGC: '400',
}

/** Returns the path of a program that is built from a manifest, whether it is built or not. */
export function programPath(name, manifest) {
  const hash = createHash('sha256').update(manifest).digest('hex')
  return join(cacheRoot, `${name}-${hash.slice(0, 16)}`, name)
}

/**
 * Builds a program, unless the cache has it. `build` gets an empty directory and `go`, which runs Go with its output in the
 * log; it writes the program to the path that it returns. The finished program is renamed, so that an incomplete one is
 * never used. Returns the reason of a failure.
 */
export function buildProgram(label, program, build) {
  if (existsSync(program)) return undefined
  mkdirSync(cacheRoot, { recursive: true })
  const logFile = `${dirname(program)}.log`
  const workDir = mkdtempSync(join(cacheRoot, 'building-'))
  console.error(`${label}: building, the first time takes minutes; progress in ${logFile}`)
  setPriority(10) // the compiler inherits it, so that a build does not slow down other programs
  const log = openSync(logFile, 'w')
  try {
    const built = build(workDir, (args, options) => runGo(args, { cwd: workDir, ...options }, log))
    mkdirSync(dirname(program), { recursive: true })
    renameSync(built, program)
    rmSync(logFile)
    return undefined
  } catch (error) {
    if (!(error instanceof BuildFailure)) throw error
    const last = lastMessage(readFileSync(logFile, 'utf8'))
    return last === undefined ? error.message : `${error.message}: ${last} (whole log: ${logFile})`
  } finally {
    closeSync(log)
    rmSync(workDir, { recursive: true, force: true })
  }
}

/**
 * Builds a program of a Go module as the module proxy serves it, with the dependencies in the go.sum of the module itself, and
 * returns the path of the program. For use in the `build` argument of `buildProgram`. `replaced` has the directories of modules that
 * replace dependencies.
 *
 * @throws {BuildFailure} if the checksum of the module differs from the one in the manifest, or if Go fails
 */
export function buildModule(
  name,
  { module, version, sum, package: packagePath, tags = [] },
  workDir,
  go,
  replaced = {},
) {
  const downloaded = JSON.parse(go(['mod', 'download', '-json', `${module}@${version}`], { keepOutput: true }))
  if (downloaded.Sum !== sum) throw new BuildFailure(`${module}@${version} has the checksum ${downloaded.Sum}`)
  const built = join(workDir, name)
  const modFile = join(workDir, 'go.mod')
  for (const file of ['go.mod', 'go.sum']) copyFileSync(join(downloaded.Dir, file), join(workDir, file))
  for (const [dependency, directory] of Object.entries(replaced)) {
    go(['mod', 'edit', `-replace=${dependency}=${directory}`, modFile])
  }
  go(
    [
      'build',
      `-modfile=${modFile}`,
      '-mod=readonly',
      '-buildvcs=false',
      '-ldflags=-s -w',
      `-tags=${tags.join(',')}`,
      `-o=${built}`,
      packagePath,
    ],
    // Some modules have a workspace with folders that their archive lacks.
    { cwd: downloaded.Dir, env: { GOWORK: 'off' } },
  )
  return built
}

/** The error of a build that cannot be finished. Other errors are faults of the script. */
class BuildFailure extends Error {}

/** Runs Go and returns what it printed, if `keepOutput` is set; otherwise its output is added to the log. */
function runGo(args, { cwd, env = {}, keepOutput = false }, log) {
  const go = spawnSync('go', args, {
    cwd,
    env: { ...buildEnvironment, ...env },
    stdio: ['ignore', keepOutput ? 'pipe' : log, log],
    encoding: 'utf8',
  })
  if (go.error?.code === 'ENOENT') {
    throw new BuildFailure('Go is not installed; install Go 1.26 or newer, see https://go.dev/dl/')
  }
  if (go.error !== undefined) throw new BuildFailure(`could not start Go: ${go.error.message}`)
  if (go.status !== 0) throw new BuildFailure('the build failed')
  return go.stdout
}

/** Returns the message of Go. A failed compilation has no such line; then it is the last line other than "exit status". */
function lastMessage(log) {
  const lines = log.split('\n').map((line) => line.trim())
  return (
    lines.findLast((line) => /^go: (?!downloading|finding)/.test(line)) ??
    lines.findLast((line) => line !== '' && !line.startsWith('exit status'))
  )
}
