import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Conversion,
  type ConvertOptionsInput,
  convert,
  type JobEvent,
  type PipelineRecord,
  parseLossless,
  readInput,
  recordInstance,
  resolveOptions,
  rootKey,
  rootOf,
  withJobEvents,
  withRoot,
} from '@penstock/converter'

export const pipelinesDirectory = join(import.meta.dirname, '../../fixtures/pipelines')

/** Receipt time of everything here; some fixtures have no time of their own. */
export const receivedAtNs = 1_790_000_000_123_456_789n

export interface FixtureCase {
  /** `case`, `case[2]` for the third body of an array, `case (variant)`. */
  readonly name: string
  readonly record: PipelineRecord
  readonly options: ConvertOptionsInput
  readonly conversion: Conversion
}

interface Variant {
  readonly case: string
  readonly variant: string
  readonly options: ConvertOptionsInput
}

/** Every case of `fixtures/pipelines`, sorted. */
export const caseNames: readonly string[] = readdirSync(pipelinesDirectory)
  .map((file) => file.slice(0, -'.json'.length))
  .sort()

/** The text of a case as it stands in its file. */
export function caseText(name: string): string {
  return readFileSync(join(pipelinesDirectory, `${name}.json`), 'utf8')
}

/** Every pipeline body of every case and variant, converted, whatever its status: nothing here depends on finality. */
export function fixtureCases(): FixtureCase[] {
  const variants = JSON.parse(readFileSync(join(pipelinesDirectory, '../variants.json'), 'utf8')) as Variant[]
  return [
    ...caseNames.flatMap((name) => converted(name, name, {})),
    ...variants.flatMap((row) => converted(row.case, `${row.case} (${row.variant})`, row.options)),
  ]
}

function converted(caseName: string, title: string, options: ConvertOptionsInput): FixtureCase[] {
  const resolved = resolveOptions(options)
  const records = recordsOf(caseName, options)
  return records.map((record, i) => ({
    name: records.length === 1 ? title : `${title}[${i}]`,
    record,
    options,
    conversion: convert(record, resolved),
  }))
}

/** The pipelines of a case, each with the root and the job hooks that the bodies before it have told of. */
function recordsOf(name: string, options: ConvertOptionsInput): PipelineRecord[] {
  const value = parseLossless(caseText(name))
  const resolved = resolveOptions(options)
  const roots = new Map<string, bigint>()
  const events: JobEvent[] = []
  const records: PipelineRecord[] = []
  for (const body of Array.isArray(value) ? value : [value]) {
    const input = readInput(body, { receivedAtNs })
    if (input.kind === 'job') {
      events.push(input.event)
      continue
    }
    const instance = recordInstance(input.record, resolved)
    const root = rootOf(input.record, roots, instance)
    roots.set(rootKey(instance, input.record.id), root.id)
    records.push(withRoot(withJobEvents(input.record, events), root))
  }
  return records
}
