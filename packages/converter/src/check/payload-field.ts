import { isObject, type JsonObject } from '../sources/fields.ts'

/** The form of a payload, which decides the paths of its fields. The tables name fields as pipeline hooks do. */
export type PayloadForm = 'hook' | 'rest'

/** The first part of a path that leads into the object of a job. */
const jobPrefix = 'builds[].'
const runPrefix = 'object_attributes.'

/** The REST paths of hook fields; those that are not listed here follow the rules of `restPath`. */
const restPaths: Readonly<Record<string, string>> = {
  'object_attributes.url': 'pipeline.web_url',
  'user.id': 'pipeline.user.id',
  'user.username': 'pipeline.user.username',
}

export const isJobField = (path: string): boolean => path.startsWith(jobPrefix)

/** Returns the path of a field in payloads of a form. The paths of jobs are relative to the job. */
export function pathIn(form: PayloadForm, path: string): string {
  if (isJobField(path)) return path.slice(jobPrefix.length)
  return form === 'hook' ? path : restPath(path)
}

/** Returns a path in the notation that is shown to users. */
export function spelledPath(form: PayloadForm, path: string): string {
  if (!isJobField(path)) return pathIn(form, path)
  return form === 'hook' ? path : `jobs[].${pathIn(form, path)}`
}

const restPath = (path: string): string =>
  restPaths[path] ?? (path.startsWith(runPrefix) ? `pipeline.${path.slice(runPrefix.length)}` : path)

/** The outermost empty field on a path, and in which way it is empty. */
export interface EmptyField {
  readonly path: string
  readonly is: 'missing' | 'null' | 'empty'
}

/** Returns the first empty field on the way to `path`; `undefined` if the path leads to a value. */
export function emptyField(body: JsonObject, path: string): EmptyField | undefined {
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
