import { isObject, type JsonObject } from '../body/fields.ts'
import { findEmptyField } from '../forge/table-payload.ts'
import type { Payload } from '../record/payload.ts'

/** The form of a payload, which decides the paths of its fields. */
type PayloadForm = 'hook' | 'rest'

/** The first part of a path that leads into the object of a job. */
const jobPrefix = 'builds[].'
const runPrefix = 'object_attributes.'

/** The REST paths of hook fields; those that are not listed here follow the rules of `restPath`. */
const restPaths: Readonly<Record<string, string>> = {
  'object_attributes.url': 'pipeline.web_url',
  'user.id': 'pipeline.user.id',
  'user.username': 'pipeline.user.username',
}

/** Returns the fields of a pipeline hook. */
export const hookPayload = (body: JsonObject): Payload => payloadIn('hook', body)

/** Returns the fields of a REST bundle, which may have members of hooks beside its own. */
export const bundlePayload = (body: JsonObject): Payload => payloadIn('rest', body)

function payloadIn(form: PayloadForm, body: JsonObject): Payload {
  const lists = ['builds', 'jobs', 'bridges'].map((key) => body[key])
  const listed = lists.flatMap((list) => (Array.isArray(list) ? list.filter(isObject) : []))
  const jobs = new Map(listed.map((job) => [String(job.id), job]))
  return {
    kind: form === 'hook' ? 'pipeline hook' : 'REST bundle',
    spelled: (field) => {
      if (!isJobField(field)) return pathIn(form, field)
      return form === 'hook' ? field : `jobs[].${pathIn(form, field)}`
    },
    emptyField: (field, jobId) => {
      const owner = isJobField(field) ? jobs.get(String(jobId)) : body
      return owner && findEmptyField(owner, pathIn(form, field))
    },
  }
}

const isJobField = (path: string): boolean => path.startsWith(jobPrefix)

/** Returns the path of a field in payloads of a form. The paths of jobs are relative to the job. */
function pathIn(form: PayloadForm, path: string): string {
  if (isJobField(path)) return path.slice(jobPrefix.length)
  return form === 'hook' ? path : restPath(path)
}

const restPath = (path: string): string =>
  restPaths[path] ?? (path.startsWith(runPrefix) ? `pipeline.${path.slice(runPrefix.length)}` : path)
