import { caseText } from '../fixtures.ts'

const text = caseText('push-pipeline-five-jobs-three-stages')

/** Returns the hook of a finished pipeline with five jobs. */
export function finished(id = 31): string {
  return text.replace('"id": 31,', `"id": ${id},`).replace('/pipelines/31"', `/pipelines/${id}"`)
}

/** Returns the hook of the same pipeline before it has finished. */
export function running(id = 31): string {
  const hook = JSON.parse(finished(id))
  Object.assign(hook.object_attributes, { status: 'running', detailed_status: 'running', finished_at: null })
  return JSON.stringify(hook)
}
