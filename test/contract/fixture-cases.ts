import { type Conversion, type ConvertOptionsInput, convert, resolveOptions } from '@penstock/converter'
import { readInput } from '@penstock/forges'
import { bodiesOf, caseNames, variants } from '../fixtures.ts'

/** The receipt time for all fixtures, because some have no time. */
export const receivedAtNs = 1_790_000_000_123_456_789n

export interface FixtureCase {
  /** The name: `case`, `case[2]` for the third body of an array, or `case (variant)`. */
  readonly name: string
  readonly conversion: Conversion
}

/** Returns the conversion of every pipeline body of every case and variant, independent of its status and earlier bodies. */
export function fixtureCases(): FixtureCase[] {
  return [
    ...caseNames.flatMap((name) => converted(name, name, {})),
    ...variants.flatMap((row) => converted(row.case, `${row.case} (${row.variant})`, row.options)),
  ]
}

function converted(caseName: string, title: string, input: ConvertOptionsInput): FixtureCase[] {
  const options = resolveOptions(input)
  const bodies = bodiesOf(caseName)
  return bodies.flatMap((body, i) => {
    const read = readInput(body, { receivedAtNs })
    if (read.kind === 'job') return []
    const name = bodies.length === 1 ? title : `${title}[${i}]`
    return { name, conversion: convert(read.record, options) }
  })
}
