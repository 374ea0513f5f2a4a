#!/usr/bin/env node
/*
 * Builds Helm of test/packaging/helm.json, and the API server of Kubernetes with its database of test/packaging/kubernetes, and
 * prints their paths as a line of JSON, the last line.
 *
 *   node build-helm.mjs                build what the cache lacks
 *   node build-helm.mjs --print-path   only print the paths, even if nothing is built
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildProgram, builtModule, programPath } from './pinned-program.mjs'

const packaging = fileURLToPath(new URL('../../test/packaging', import.meta.url))
const kubernetes = join(packaging, 'kubernetes')
const helm = readFileSync(join(packaging, 'helm.json'), 'utf8')
const sources = ['go.mod', 'go.sum', 'apiserver/main.go', 'etcd/main.go'].map((file) =>
  readFileSync(join(kubernetes, file), 'utf8'),
)
const paths = {
  helm: programPath('helm', helm),
  apiserver: programPath('apiserver', sources.join('')),
  etcd: programPath('etcd', sources.join('')),
}

const failures = process.argv.includes('--print-path')
  ? []
  : [
      buildProgram('helm', paths.helm, (workDir, go) => builtModule('helm', JSON.parse(helm), workDir, go)),
      buildProgram('etcd', paths.etcd, (workDir, go) => builtHere('etcd', workDir, go)),
      buildProgram('API server of Kubernetes', paths.apiserver, (workDir, go) => builtHere('apiserver', workDir, go)),
    ].filter((failure) => failure !== undefined)
for (const failure of failures) console.error(`helm: ${failure}`)
if (failures.length === 0) console.log(JSON.stringify(paths))
else process.exitCode = 1

/** Builds a program of the module of the tests. Its API server has the version that the module names; otherwise it has none. */
function builtHere(name, workDir, go) {
  const [, major, minor, patch] = /k8s\.io\/kubernetes v(\d+)\.(\d+)\.(\d+)/.exec(sources[0])
  const variables = { gitVersion: `v${major}.${minor}.${patch}`, gitMajor: major, gitMinor: minor }
  const flags = Object.entries(variables).map(
    ([variable, value]) => `-X k8s.io/component-base/version.${variable}=${value}`,
  )
  const built = join(workDir, name)
  const args = [
    'build',
    '-mod=readonly',
    '-buildvcs=false',
    '-trimpath',
    `-ldflags=-s -w ${flags.join(' ')}`,
    `-o=${built}`,
    `./${name}`,
  ]
  go(args, { cwd: kubernetes })
  return built
}
