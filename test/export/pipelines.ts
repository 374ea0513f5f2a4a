import { caseText } from '../fixtures.ts'

const text = caseText('push-pipeline-five-jobs-three-stages')

/** A finished pipeline of five jobs, as its hook tells of it, under the id 31 or another. */
export function finished(id = 31): string {
  return text.replace('"id": 31,', `"id": ${id},`).replace('/pipelines/31"', `/pipelines/${id}"`)
}

/** The same before it has finished. */
export function running(id = 31): string {
  const hook = JSON.parse(finished(id))
  Object.assign(hook.object_attributes, { status: 'running', detailed_status: 'running', finished_at: null })
  return JSON.stringify(hook)
}
