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
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const requirements = join(import.meta.dirname, 'requirements.txt')
const cacheRoot = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'penstock')
const name = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16)
const home = join(cacheRoot, `chdb-${name}`)
/** Marks a complete installation. A virtual environment cannot be renamed, because it contains its own path. */
const complete = join(home, 'complete')

if (!process.argv.includes('--print-path') && !existsSync(complete)) {
  rmSync(home, { recursive: true, force: true })
  run('python3', ['-m', 'venv', home])
  run(join(home, 'bin', 'pip'), ['install', '--quiet', '--disable-pip-version-check', '-r', requirements])
  writeFileSync(complete, '')
}
console.log(join(home, 'bin', 'python'))

function run(command, args) {
  const { error, status, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (error === undefined && status === 0) return
  console.error(`clickhouse: ${command} ${args.join(' ')}: ${error?.message ?? stderr.trim()}`)
  process.exit(1)
}
