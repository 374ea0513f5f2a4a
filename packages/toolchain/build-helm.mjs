#!/usr/bin/env node
/*
 * Builds Helm of test/packaging/helm.json and prints the binary's path as the last line.
 *
 *   node build-helm.mjs                build it, unless the cache has it
 *   node build-helm.mjs --print-path   only print its path, even if it is not built
 */
import { readFileSync } from 'node:fs'
import { buildProgram, builtModule, programPath } from './pinned-program.mjs'

const manifest = readFileSync(new URL('../../test/packaging/helm.json', import.meta.url), 'utf8')
const helm = programPath('helm', manifest)

const failure = process.argv.includes('--print-path')
  ? undefined
  : buildProgram('helm', helm, (workDir, go) => builtModule('helm', JSON.parse(manifest), workDir, go))
if (failure === undefined) {
  console.log(helm)
} else {
  console.error(`helm: ${failure}`)
  process.exitCode = 1
}
