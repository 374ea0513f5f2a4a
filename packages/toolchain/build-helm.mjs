#!/usr/bin/env node
/*
 * Builds the programs that the tests of the Helm chart start, and prints their paths as JSON in its last line. test/packaging/helm.json
 * names the version of Helm; test/packaging/kubernetes is a Go module with the Kubernetes API server and its database, etcd.
 *
 *   node build-helm.mjs                build the programs that the cache lacks
 *   node build-helm.mjs --print-path   only print the paths, even if the programs are not built
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildModule, buildProgram, programPath } from './pinned-program.mjs'

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
      buildProgram('helm', paths.helm, (workDir, go) => buildModule('helm', JSON.parse(helm), workDir, go)),
      buildProgram('etcd', paths.etcd, (workDir, go) => buildTestProgram('etcd', workDir, go)),
      buildProgram('Kubernetes API server', paths.apiserver, (workDir, go) =>
        buildTestProgram('apiserver', workDir, go),
      ),
    ].filter((failure) => failure !== undefined)
for (const failure of failures) console.error(`helm: ${failure}`)
if (failures.length === 0) console.log(JSON.stringify(paths))
else process.exitCode = 1

/**
 * Builds a program of the Go module in test/packaging/kubernetes, and returns its path. The flags give the API server the version of
 * the module, because it would otherwise report none.
 */
function buildTestProgram(name, workDir, go) {
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
