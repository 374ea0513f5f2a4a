import { isObject, type JsonObject } from '../body/fields.ts'
import type { EmptyField, Payload } from '../record/payload.ts'

/** Where a form of body holds the fields of a record. */
export interface FieldTable {
  readonly kind: Payload['kind']
  /**
   * The path of each field, by the name that records have for it. Fields that are not listed are unknown to the forge. The paths
   * of jobs are relative to the job.
   */
  readonly paths: Readonly<Record<string, string>>
  /** The path that leads to the jobs, for messages. */
  readonly jobsPath: string
  /** Returns the jobs of a body by the text of their ids. */
  readonly jobs: (values: JsonObject) => ReadonlyMap<string, JsonObject>
}

const JOB_PREFIX = 'builds[].'

/** Returns the fields of a body, for a report on what it lacks. */
export const tablePayload =
  ({ kind, paths, jobsPath, jobs }: FieldTable) =>
  (values: JsonObject): Payload => {
    const jobById = jobs(values)
    return {
      kind,
      spelled: (field) => {
        const path = paths[field] ?? field
        return field.startsWith(JOB_PREFIX) && paths[field] !== undefined ? `${jobsPath}[].${path}` : path
      },
      emptyField: (field, jobId) => {
        const path = paths[field]
        if (path === undefined) return { path: field.replace(JOB_PREFIX, ''), is: 'not part of the forge’s payloads' }
        const owner = field.startsWith(JOB_PREFIX) ? jobById.get(String(jobId)) : values
        return owner && findEmptyField(owner, path)
      },
    }
  }

/** Returns the first empty field on the way to a field; `undefined` if the way leads to a value. */
export function findEmptyField(body: JsonObject, path: string): EmptyField | undefined {
  const steps = path.split('.')
  let at: unknown = body
  for (const [index, step] of steps.entries()) {
    if (!isObject(at)) return undefined
    const value: unknown = Object.hasOwn(at, step) ? at[step] : undefined
    const is = emptiness(value)
    if (is !== undefined) return { path: steps.slice(0, index + 1).join('.'), is }
    at = value
  }
  return undefined
}

function emptiness(value: unknown): EmptyField['is'] | undefined {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  const isEmpty = typeof value === 'string' ? value.trim() === '' : Array.isArray(value) && value.length === 0
  return isEmpty ? 'empty' : undefined
}
