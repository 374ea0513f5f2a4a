import process from 'node:process'
import { setFlagsFromString } from 'node:v8'
import { systemClock } from '@penstock/runtime'
import { Interrupted } from './process/environment.ts'
import { readInstallationKind } from './process/installation.ts'
import { runProgram } from './program.ts'
import { samplesDirectory } from './samples-directory.ts'

/** The default of V8, which bin/penstock.mjs changes while the modules load. */
setFlagsFromString('--semi-space-growth-factor=2')

const interruption = new AbortController()
/** Each signal is handled once, so that a second Ctrl-C ends the process. */
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => interruption.abort(new Interrupted(signal)))
/** Failed writes are reported by `write`. Without a listener, Node would end the process with a stack trace. */
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

process.exitCode = await runProgram(process.argv.slice(2), {
  /** Standard input is opened only when a command reads it, because opening it has side effects. */
  get stdin() {
    return process.stdin
  },
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  clock: systemClock,
  random: Math.random,
  signal: interruption.signal,
  samplesDirectory,
  installation: {
    // This is the first module of the bundle, and the file is beside it.
    kind: readInstallationKind(new URL('installation.txt', import.meta.url)),
    nodeVersion: process.versions.node,
  },
})
