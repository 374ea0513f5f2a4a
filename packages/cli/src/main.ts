import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { systemClock } from '@penstock/runtime'
import { Interrupted } from './environment.ts'
import { runProgram } from './program.ts'

const interruption = new AbortController()
/** Once only: whoever is in a hurry presses twice and ends the process. */
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => interruption.abort(new Interrupted(signal)))
/** The write that fails says so where it was made; without a listener Node would end the process with a stack trace. */
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

process.exitCode = await runProgram(process.argv.slice(2), {
  /** Opening it has effects of its own, so not unless it is asked for. */
  get stdin() {
    return process.stdin
  },
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  clock: systemClock,
  random: Math.random,
  signal: interruption.signal,
  samplesDirectory: fileURLToPath(new URL('../../../fixtures/pipelines', import.meta.url)),
})
