import { readInput } from './read-input.ts'
import type { JobRecord, PipelineRecord } from './record/pipeline-record.ts'

export const attributes = { id: 31, status: 'success' }

export function read(hook: object, receivedAtNs?: bigint) {
  const input = readInput({ object_kind: 'pipeline', object_attributes: attributes, ...hook }, { receivedAtNs })
  if (input.kind !== 'pipeline') throw new Error('no pipeline')
  return { record: input.record, warned: input.warnings.items.map((warning) => warning.path) }
}

export const hookRecord = (hook: object): PipelineRecord => read(hook).record
export const hookRun = (fields: object): PipelineRecord =>
  hookRecord({ object_attributes: { ...attributes, ...fields } })
export const hookJob = (fields: object): JobRecord =>
  hookRecord({ builds: [{ id: 380, status: 'success', ...fields }] }).jobs[0]!
