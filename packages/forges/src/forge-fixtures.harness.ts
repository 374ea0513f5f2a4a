import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isObject, type JsonObject } from './body/fields.ts'
import { parseLossless } from './body/lossless-json.ts'
import { capturedBody } from './forge/foreign-bodies.ts'
import { type Input, readInput } from './read-input.ts'
import type { PipelineRecord } from './record/pipeline-record.ts'

const fixtures = join(import.meta.dirname, '../../../fixtures')
const folders = ['pipelines', 'unnamed'].map((name) => join(fixtures, name))

/** Returns the bodies of the fixtures with a prefix in their name, in order of arrival. */
export function fixtureBodies(prefix: string): { readonly name: string; readonly bodies: readonly JsonObject[] }[] {
  const files = folders.flatMap((folder) => readdirSync(folder).map((file) => join(folder, file)))
  return files
    .filter((file) => basename(file).startsWith(prefix))
    .map((file) => ({ name: basename(file, '.json'), bodies: bodiesIn(file) }))
}

function bodiesIn(file: string): JsonObject[] {
  const value = parseLossless(readFileSync(file, 'utf8'))
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
