#!/usr/bin/env node
/*
 * Builds the backends of test/backends/programs.json and prints their paths as a line of JSON, the last line.
 *
 *   node build-backends.mjs                build them, unless the cache has them
 *   node build-backends.mjs prometheus     build only those that are named
 *   node build-backends.mjs --print-path   only print their paths, even if they are not built
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { buildModule, buildProgram, programPath } from './pinned-program.mjs'

const manifest = new URL('../../test/backends/programs.json', import.meta.url)
const named = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const programs = Object.entries(JSON.parse(readFileSync(manifest, 'utf8')))
  .filter(([name]) => named.length === 0 || named.includes(name))
  .map(([name, row]) => ({ name, row, path: programPath(name, JSON.stringify(row)) }))
if (programs.length < named.length) {
  console.error(`the manifest lists other names than ${named.join(' and ')}`)
  process.exit(1)
}

let isComplete = true
if (!process.argv.includes('--print-path')) {
  for (const { name, row, path } of programs) {
    const failure = buildProgram(name, path, (workDir, go) => buildModule(name, row, workDir, go, replacedBy(row)))
    if (failure === undefined) continue
    console.error(`${name}: ${failure}`)
    isComplete = false
  }
}
if (isComplete) console.log(JSON.stringify(Object.fromEntries(programs.map(({ name, path }) => [name, path]))))
else process.exitCode = 1

/** Returns the directory that replaces each dependency in the row of a program. The manifest names it relative to itself. */
function replacedBy({ replace = {} }) {
  return Object.fromEntries(
    Object.entries(replace).map(([dependency, directory]) => [dependency, fileURLToPath(new URL(directory, manifest))]),
  )
}
