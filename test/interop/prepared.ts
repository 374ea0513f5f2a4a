import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { collectorBinary } from '../collector/collector.ts'

/** The paths that `prepare.mjs` prints. */
export interface PreparedPaths {
  readonly python: string
  readonly pythonIsComplete: string
  readonly schemathesis: string
  readonly schemathesisIsComplete: string
  readonly go: string
  /** The program that calls client-go. */
  readonly goClient: string
  /** The conformance suite of HTTP/2. */
  readonly h2spec: string
  readonly glab: string
  /** The directory with the commands of ansible. */
  readonly ansible: string
  readonly ansibleIsComplete: string
  /** The directory that contains `ansible_collections`. */
  readonly ansibleCollections: string
  /** The directory with the commands gitlabform and gitlabber. */
  readonly gitlabform: string
  readonly gitlabformIsComplete: string
}

const prepare = join(import.meta.dirname, 'prepare.mjs')

export function preparedPaths(): PreparedPaths {
  return JSON.parse(execFileSync(process.execPath, [prepare, '--print-paths'], { encoding: 'utf8' }))
}

const makesThem = '("node test/interop/prepare.mjs" makes them; takes Python and Go)'

/** Declares a suite that needs the clients in Python and Go, and the real collector. @see describeUnlessMissing */
export function describeWithClients(name: string, suite: () => void): void {
  const { pythonIsComplete, go } = preparedPaths()
  describeUnlessMissing(name, suite, [
    ...(existsSync(pythonIsComplete) && existsSync(go) ? [] : [`the clients in Python and Go ${makesThem}`]),
    ...(collectorBinary() === undefined ? ['a collector ("npm run collector" builds one; takes Go and minutes)'] : []),
  ])
}

/** Declares a suite that needs a program, by the paths that exist if it is installed. @see describeUnlessMissing */
export function describeWithProgram(
  program: string,
  needed: readonly (keyof PreparedPaths)[],
  suite: () => void,
): void {
  const paths = preparedPaths()
  const isComplete = needed.every((name) => existsSync(paths[name]))
  describeUnlessMissing(program, suite, isComplete ? [] : [`${program} ${makesThem}`])
}

/** Declares a suite that needs the clients in Python. @see describeUnlessMissing */
export function describeWithPython(name: string, suite: () => void): void {
  const isComplete = existsSync(preparedPaths().pythonIsComplete)
  describeUnlessMissing(name, suite, isComplete ? [] : [`the clients in Python ${makesThem}`])
}

/**
 * Declares a suite. In CI it always runs, and a missing program is a failed test. Elsewhere it is skipped while a program
 * is missing, and the reason is printed.
 */
function describeUnlessMissing(name: string, suite: () => void, missing: readonly string[]): void {
  if (missing.length === 0) {
    describe(name, suite)
  } else if (process.env.CI) {
    test(name, () => {
      throw new Error(`CI makes these before the tests: ${missing.join(', ')}`)
    })
  } else {
    console.warn(`skipped: "${name}" needs ${missing.join(', ')}`)
    describe.skip(name, suite)
  }
}
