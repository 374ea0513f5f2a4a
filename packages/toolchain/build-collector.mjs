#!/usr/bin/env node
/*
 * Builds the collector of test/collector/manifest.yaml and prints the binary's path as the last line.
 *
 *   node build-collector.mjs                build it, unless the cache has it
 *   node build-collector.mjs --print-path   only print its path, even if it is not built
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildProgram, compilerFlags, programPath } from './pinned-program.mjs'

const builder = 'go.opentelemetry.io/collector/cmd/builder@v0.158.0'
const manifest = fileURLToPath(new URL('../../test/collector/manifest.yaml', import.meta.url))
const collector = programPath('otelcol', readFileSync(manifest))

const failure = process.argv.includes('--print-path')
  ? undefined
  : buildProgram('collector', collector, (workDir, go) => {
      // The builder gives the compiler no other flags than these.
      go(['run', builder, '--gcflags', compilerFlags, '--config', manifest])
      return join(workDir, 'sources', 'otelcol')
    })
if (failure === undefined) {
  console.log(collector)
} else {
  console.error(`collector: ${failure}`)
  process.exitCode = 1
}
