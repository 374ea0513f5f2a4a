import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { capturedBody, isObject, type JsonObject } from '@penstock/forges'
import { describe, test } from 'vitest'
import { caseFile, caseNames, unnamedCases, unnamedFile } from '../fixtures.ts'

const prepare = join(import.meta.dirname, '../interop/prepare.mjs')

const programPath = (): string =>
  JSON.parse(execFileSync(process.execPath, [prepare, '--print-paths'], { encoding: 'utf8' })).forgeTypes

/** Declares a suite that needs the types in Go. In CI it always runs, and a missing program is a failed test. */
export function describeWithForgeTypes(name: string, suite: () => void): void {
  if (existsSync(programPath())) describe(name, suite)
  else if (process.env.CI) {
    test(name, () => {
      throw new Error('CI runs "node test/interop/prepare.mjs" before the tests')
    })
  } else {
    console.warn(`skipped: "${name}" needs a program that "node test/interop/prepare.mjs" builds (takes Go)`)
    describe.skip(name, suite)
  }
}

/** A part of a fixture, and the name of the type that it must have. */
export interface TypedPart {
  readonly type: string
  readonly value: unknown
  readonly fixture: string
}

export interface Examined extends TypedPart {
  /** The paths of members that the type lacks. */
  readonly unknown: readonly string[]
  /** Why the part cannot be decoded into the type; empty if it can. */
  readonly error: string
}

/** Asks the program about all parts at once. */
export function examine(parts: readonly TypedPart[]): Examined[] {
  const input = parts.map(({ type, value }) => JSON.stringify({ type, value })).join('\n')
  const { stdout, stderr, status } = spawnSync(programPath(), { input: `${input}\n`, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  const answers = stdout.split('\n').slice(0, -1)
  return parts.map((part, i) => {
    const { unknown, error } = JSON.parse(answers[i]!)
    return { ...part, unknown: unknown ?? [], error }
  })
}

type Parts = (body: JsonObject) => readonly (readonly [type: string, value: unknown])[]

/** The parts of the bodies of each forge that have a published type. Version 1.0 of Azure's hook has an older form. */
const partsByForge: Readonly<Record<string, Parts>> = {
  azure: ({ build, timeline, resource, resourceVersion }) => [
    ['azure build', build],
    ['azure timeline', timeline],
    ['azure build', resourceVersion === '1.0' ? undefined : resource],
  ],
  buildkite: (body) => [
    ['buildkite build', body.event === undefined ? body : body.build],
    ['buildkite build', isObject(body.job) ? { jobs: [body.job] } : undefined],
  ],
  drone: ({ build, repo, ...rest }) => [
    ['drone build', build ?? rest],
    ['drone repo', repo],
  ],
  jenkins: ({ build, stages }) => [
    ['jenkins build', stages === undefined ? undefined : build],
    ['jenkins stages', stages],
  ],
}

/** Returns the parts of all fixtures that have a published type. */
export function typedParts(): TypedPart[] {
  const files = [
    ...caseNames.map((name) => [name, caseFile(name)] as const),
    ...unnamedCases.map((name) => [name, unnamedFile(name)] as const),
  ]
  return files.flatMap(([fixture, file]) => {
    const parts = partsByForge[fixture.slice(0, fixture.indexOf('-'))]
    if (parts === undefined) return []
    const given: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return (Array.isArray(given) ? given : [given])
      .map((body: JsonObject) => (capturedBody(body) as JsonObject | undefined) ?? body)
      .flatMap((body) => parts(body))
      .filter(([, value]) => isObject(value))
      .map(([type, value]) => ({ type, value, fixture }))
  })
}
