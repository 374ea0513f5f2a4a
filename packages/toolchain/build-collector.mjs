#!/usr/bin/env node
/*
 * Builds the collector of test/collector/manifest.yaml and prints the binary's path as the last line.
 *
 *   node build-collector.mjs                build it, unless the cache has it
 *   node build-collector.mjs --print-path   only print its path, even if it is not built
 *
 * The name of the cache directory contains the manifest's hash, so a changed manifest leads to another
 * binary, and switching branches rebuilds nothing. Only this script knows the path; the test harness runs it.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir, setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const builder = 'go.opentelemetry.io/collector/cmd/builder@v0.158.0'
const manifest = fileURLToPath(new URL('../../test/collector/manifest.yaml', import.meta.url))
const manifestHash = createHash('sha256').update(readFileSync(manifest)).digest('hex')
const cacheRoot = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'penstock')
const binary = join(cacheRoot, `otelcol-${manifestHash.slice(0, 16)}`, 'otelcol')

const printOnly = process.argv.includes('--print-path')
const failure = printOnly || existsSync(binary) ? undefined : build()
if (failure === undefined) {
  console.log(binary)
} else {
  console.error(`collector: ${failure}`)
  process.exitCode = 1
}

/** Builds in a temporary directory and renames, so that an incomplete binary is never used. Returns the reason of a failure. */
function build() {
  mkdirSync(cacheRoot, { recursive: true })
  const logFile = `${dirname(binary)}.log`
  const workDir = mkdtempSync(join(cacheRoot, 'building-'))
  console.error(`collector: building, the first time takes minutes; progress in ${logFile}`)
  try {
    const failure = runBuilder(workDir, logFile)
    if (failure !== undefined) return failure
    mkdirSync(dirname(binary), { recursive: true })
    renameSync(join(workDir, 'sources', 'otelcol'), binary)
    rmSync(logFile)
  } finally {
    rmSync(workDir, { recursive: true, force: true })
  }
}

function runBuilder(workDir, logFile) {
  setPriority(10) // the compiler inherits it, so that a build does not slow down other programs
  const log = openSync(logFile, 'w')
  const go = spawnSync('go', ['run', builder, '--config', manifest], { cwd: workDir, stdio: ['ignore', log, log] })
  closeSync(log)
  if (go.error?.code === 'ENOENT') return 'Go is not installed; install Go 1.25 or newer, see https://go.dev/dl/'
  if (go.error !== undefined) return `could not start Go: ${go.error.message}`
  if (go.status !== 0) return `the build failed: ${lastMessage(readFileSync(logFile, 'utf8'))} (whole log: ${logFile})`
}

/** Returns the message of Go. A failed compilation has no such line; then it is the last line other than "exit status". */
function lastMessage(log) {
  const lines = log.split('\n').map((line) => line.trim())
  return (
    lines.findLast((line) => /^go: (?!downloading|finding)/.test(line)) ??
    lines.findLast((line) => line !== '' && !line.startsWith('exit status')) ??
    'no output'
  )
}
