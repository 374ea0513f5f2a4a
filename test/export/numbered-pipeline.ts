import { idOf } from '../gateway/numbered-body.ts'
import { pipelineHook } from '../load/payloads.ts'

export const JOBS = 5

/** The placeholder for the number in the template; it has more digits than any number. */
const PLACEHOLDER = 700_000_001
const REF = 'ref of the number'

const parts = (status: string) => {
  const hook = pipelineHook(PLACEHOLDER, JOBS) as { object_attributes: object }
  const unfinished = status === 'running' && { finished_at: null, duration: null }
  const run = { ...hook.object_attributes, ref: REF, status, ...unfinished }
  return JSON.stringify({ ...hook, object_attributes: run }).split(new RegExp(`(${PLACEHOLDER}|${REF})`))
}
const templates = { success: parts('success'), running: parts('running') }

/**
 * Returns the JSON of a pipeline hook of about 4 KB. Its id is the number, and `idsIn` finds its ref in exported telemetry.
 *
 * @param number from 1 to 99,999,999
 */
export function numberedPipeline(number: number, status: 'success' | 'running' = 'success'): string {
  const [id, ref] = [String(number), idOf(number)]
  return templates[status].map((part) => (part === String(PLACEHOLDER) ? id : part === REF ? ref : part)).join('')
}
