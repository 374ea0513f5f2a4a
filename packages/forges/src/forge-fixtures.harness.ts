import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, type JsonObject } from './body/fields.ts'
import { parseLossless } from './body/lossless-json.ts'
import { capturedBody } from './forge/foreign-bodies.ts'
import { type Input, readInput } from './read-input.ts'
import type { PipelineRecord } from './record/pipeline-record.ts'

const folder = join(import.meta.dirname, '../../../fixtures/pipelines')

/** Returns the bodies of the fixtures whose name begins with a prefix, in order of arrival. */
export function fixtureBodies(prefix: string): { readonly name: string; readonly bodies: readonly JsonObject[] }[] {
  const files = readdirSync(folder).filter((file) => file.startsWith(prefix))
  return files.map((file) => ({ name: file.replace('.json', ''), bodies: bodiesIn(file) }))
}

function bodiesIn(file: string): JsonObject[] {
  const value = parseLossless(readFileSync(join(folder, file), 'utf8'))
  return (Array.isArray(value) ? value : [value]).map((given: JsonObject) => {
    const captured = capturedBody(given)
    const body = typeof captured === 'string' ? parseLossless(captured) : (captured ?? given)
    if (!isObject(body)) throw new Error(`${file} has a body that is no object`)
    return body
  })
}

export const readBody = (body: unknown): Input => readInput(body, { receivedAtNs: undefined })

/** Returns the record of a body that is a run. */
export function readRecord(body: unknown): PipelineRecord {
  const input = readBody(body)
  if (input.kind !== 'pipeline') throw new Error('no run')
  return input.record
}

/** Returns the record of the last body of a fixture. */
export function lastRecord(name: string): PipelineRecord {
  const [fixture] = fixtureBodies(`${name}.json`)
  return readRecord(fixture?.bodies.at(-1))
}
