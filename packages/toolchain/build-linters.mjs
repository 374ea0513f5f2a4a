#!/usr/bin/env node
/*
 * Makes ready the programs that check the templates for CI jobs, actionlint and check-jsonschema, and prints their paths as JSON in its
 * last line.
 *
 *   node build-linters.mjs                those that the cache lacks
 *   node build-linters.mjs --print-path   only print their paths, even if they are not there
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildModule, buildProgram, programPath } from './pinned-program.mjs'
import { completeIn, makeEnvironment } from './python-environment.mjs'

const requirements = fileURLToPath(new URL('../../test/packaging/linters/requirements.txt', import.meta.url))
const row = {
  module: 'github.com/rhysd/actionlint',
  version: 'v1.7.12',
  sum: 'h1:vQ4GeJN86C0QH+gTUQcs8McmK62OLT3kmakPMtEWYnY=',
  package: './cmd/actionlint',
}
const actionlint = programPath('actionlint', JSON.stringify(row))
const python = dirname(programPath('check-jsonschema', readFileSync(requirements, 'utf8')))

const failures = process.argv.includes('--print-path')
  ? []
  : [
      buildProgram('actionlint', actionlint, (workDir, go) => buildModule('actionlint', row, workDir, go)),
      makeEnvironment(python, requirements, run, ['--no-deps']),
    ].filter((failure) => failure !== undefined)
for (const failure of failures) console.error(`linters: ${failure}`)
if (failures.length > 0) process.exitCode = 1
else
  console.log(
    JSON.stringify({
      actionlint,
      checkJsonschema: join(python, 'bin', 'check-jsonschema'),
      pythonIsComplete: completeIn(python),
    }),
  )

/** Runs a program and returns the reason of its failure. */
function run(command, args, cwd) {
  const { status, error, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (error !== undefined) return `could not start ${command}: ${error.message}`
  return status === 0 ? undefined : `${command} failed: ${stderr.trim().split('\n').at(-1)}`
}
