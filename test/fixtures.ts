import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ConvertOptionsInput, parseLossless } from '@penstock/converter'

export const fixtures = join(import.meta.dirname, '../fixtures')
export const pipelines = join(fixtures, 'pipelines')

/** Every case of `fixtures/pipelines`, sorted. */
export const caseNames: readonly string[] = readdirSync(pipelines)
  .map((file) => file.slice(0, -'.json'.length))
  .sort()

export const caseFile = (name: string): string => join(pipelines, `${name}.json`)

/** The text of a case as it stands in its file. */
export const caseText = (name: string): string => readFileSync(caseFile(name), 'utf8')

/** The bodies of a case in order of arrival; most cases are one. */
export function bodiesOf(name: string): unknown[] {
  const value = parseLossless(caseText(name))
  return Array.isArray(value) ? value : [value]
}

export interface Variant {
  readonly case: string
  readonly variant: string
  readonly options: ConvertOptionsInput
}

/** The option combinations that the fixtures name. */
export const variants: readonly Variant[] = JSON.parse(readFileSync(join(fixtures, 'variants.json'), 'utf8'))

/** Conversion options as a person would type them. */
export function flagsOf(options: ConvertOptionsInput): string[] {
  return Object.entries(options).flatMap(([option, value]) => {
    const flag = flagName(option)
    if (typeof value === 'boolean') return [value ? `--${flag}` : `--no-${flag}`]
    return [`--${flag}`, String(value)]
  })
}

/** What the command line calls an option. */
export function flagName(option: string): string {
  if (option === 'resourceServiceName') return 'service-name'
  return option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
