#!/usr/bin/env node
/*
 * Makes ready what the tests of ClickHouse run beside Node: a virtual environment with chdb, which is ClickHouse's engine as a library for
 * Python. Prints the path of its Python.
 *
 *   node prepare.mjs                creates it unless the cache has it
 *   node prepare.mjs --print-path   only prints the path, even if nothing is there
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { makeEnvironment, pythonIn } from '../../packages/toolchain/python-environment.mjs'

const requirements = join(import.meta.dirname, 'requirements.txt')
const cacheRoot = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'penstock')
const name = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16)
const home = join(cacheRoot, `chdb-${name}`)

if (!process.argv.includes('--print-path')) {
  mkdirSync(cacheRoot, { recursive: true })
  const failure = makeEnvironment(home, requirements, run)
  if (failure !== undefined) {
    console.error(`clickhouse: ${failure}`)
    process.exit(1)
  }
}
console.log(pythonIn(home))

/** Runs a program, and returns the reason of its failure. */
function run(command, args) {
  const { error, status, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  return error === undefined && status === 0
    ? undefined
    : `${command} ${args.join(' ')}: ${error?.message ?? stderr.trim()}`
}
