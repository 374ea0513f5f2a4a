import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ConvertOptionsInput } from '@penstock/converter'
import { capturedBody, groupRestJobs, isRestJob, OtherHookError, parseLossless, readInput } from '@penstock/forges'

export const fixtures = join(import.meta.dirname, '../fixtures')
export const pipelines = join(fixtures, 'pipelines')

/** The cases of `fixtures/pipelines`, sorted. */
export const caseNames: readonly string[] = readdirSync(pipelines)
  .map((file) => file.slice(0, -'.json'.length))
  .sort()

/** The cases of `fixtures/unnamed`, which do not name their server or repository, sorted. */
export const unnamedCases: readonly string[] = readdirSync(join(fixtures, 'unnamed'))
  .map((file) => file.slice(0, -'.json'.length))
  .sort()

export const unnamedFile = (name: string): string => join(fixtures, 'unnamed', `${name}.json`)
export const caseFile = (name: string): string => join(pipelines, `${name}.json`)

/** Returns the text of the file of a case. */
export const caseText = (name: string): string => readFileSync(caseFile(name), 'utf8')

/**
 * Returns the records and job hooks of a case in order of arrival, as the command line reads them: captured requests are
 * unwrapped, REST jobs grouped, and hooks about other events left out. Most cases are one body.
 */
export function bodiesOf(name: string): unknown[] {
  const value = parseLossless(caseText(name))
  const given: unknown[] = Array.isArray(value) ? value : [value]
  if (given.every(isRestJob)) return groupRestJobs(given).map(({ body }) => body)
  return given.map(unwrapped).filter((body) => !isOtherHook(body))
}

function unwrapped(body: unknown): unknown {
  const captured = capturedBody(body as Parameters<typeof capturedBody>[0])
  return typeof captured === 'string' ? parseLossless(captured) : (captured ?? body)
}

function isOtherHook(body: unknown): boolean {
  try {
    readInput(body, { receivedAtNs: undefined })
    return false
  } catch (error) {
    return error instanceof OtherHookError
  }
}

export interface Variant {
  readonly case: string
  readonly variant: string
  readonly options: ConvertOptionsInput
}

/** The option combinations in `fixtures/variants.json`. */
export const variants: readonly Variant[] = JSON.parse(readFileSync(join(fixtures, 'variants.json'), 'utf8'))

/** Returns conversion options as command-line flags. */
export function flagsOf(options: ConvertOptionsInput): string[] {
  return Object.entries(options).flatMap(([option, value]) => {
    const flag = flagName(option)
    if (typeof value === 'boolean') return [value ? `--${flag}` : `--no-${flag}`]
    return [`--${flag}`, String(value)]
  })
}

/** Returns the name of an option on the command line. */
export function flagName(option: string): string {
  if (option === 'resourceServiceName') return 'service-name'
  return option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
