#!/usr/bin/env node
/*
 * Builds the programs that the tests of the Helm chart start, and prints their paths as JSON in its last line. The Go module
 * test/packaging/kubernetes has Helm, the Kubernetes API server and its database, etcd, so that what they share is compiled once.
 *
 *   node build-helm.mjs                build the programs that the cache lacks
 *   node build-helm.mjs --print-path   only print the paths, even if the programs are not built
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildProgram, programPath } from './pinned-program.mjs'

const kubernetes = fileURLToPath(new URL('../../test/packaging/kubernetes', import.meta.url))
const sources = ['go.mod', 'go.sum', 'apiserver/main.go', 'etcd/main.go'].map((file) =>
  readFileSync(join(kubernetes, file), 'utf8'),
)
const programs = [
  { name: 'helm', label: 'Helm', package: 'helm.sh/helm/v4/cmd/helm' },
  { name: 'etcd', label: 'etcd', package: './etcd' },
  { name: 'apiserver', label: 'Kubernetes API server', package: './apiserver' },
].map((program) => ({ ...program, path: programPath(program.name, sources.join('')) }))

const failures = process.argv.includes('--print-path')
  ? []
  : programs
      .map((program) =>
        buildProgram(program.label, program.path, (workDir, go) => buildTestProgram(program, workDir, go)),
      )
      .filter((failure) => failure !== undefined)
for (const failure of failures) console.error(`helm: ${failure}`)
if (failures.length === 0)
  console.log(JSON.stringify(Object.fromEntries(programs.map(({ name, path }) => [name, path]))))
else process.exitCode = 1

/**
 * Builds a program of the Go module in test/packaging/kubernetes, and returns its path. The flags give the API server the version of
 * the module, because it would otherwise report none.
 */
function buildTestProgram({ name, package: packagePath }, workDir, go) {
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
    `-ldflags=-s -w ${flags.join(' ')}`,
    `-o=${built}`,
    packagePath,
  ]
  go(args, { cwd: kubernetes })
  return built
}
