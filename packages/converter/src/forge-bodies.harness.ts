import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  capturedBody,
  isObject,
  type JsonObject,
  type Payload,
  type PipelineRecord,
  parseLossless,
  RecordError,
  readInput,
  readPayload,
} from '@penstock/forges'
import { type ConvertOptions, resolveOptions } from './base/options.ts'

/** A body of a fixture that is read as a run. */
export interface RunBody {
  readonly name: string
  readonly body: JsonObject
  readonly record: PipelineRecord
  readonly payload: Payload
}

const fixtures = join(import.meta.dirname, '../../../fixtures')

export const options = resolveOptions({ extraAttributes: true })
/** Some payloads name neither their server nor their repository. */
const namingOptions = { ...options, instanceId: 'ci.example.com', project: 'kiln-works/wheel' }
export const optionsFor = ({ unnamed }: PipelineRecord): ConvertOptions =>
  unnamed === undefined ? options : namingOptions

/** Returns the bodies of all fixtures that are runs. */
export const runBodies = (): readonly RunBody[] =>
  ['pipelines', 'unnamed'].flatMap((folder) =>
    readdirSync(join(fixtures, folder)).flatMap((file) => {
      const value = parseLossless(readFileSync(join(fixtures, folder, file), 'utf8'))
      return (Array.isArray(value) ? value : [value]).flatMap((given) => readRun(file, given))
    }),
  )

function readRun(name: string, given: JsonObject): RunBody[] {
  const captured = capturedBody(given)
  const body = typeof captured === 'string' ? parseLossless(captured) : (captured ?? given)
  try {
    const input = readInput(body, { receivedAtNs: 1n })
    if (input.kind !== 'pipeline' || !isObject(body)) return []
    return [{ name, body, record: input.record, payload: readPayload(body) }]
  } catch (error) {
    if (error instanceof RecordError) return []
    throw error
  }
}
