import { idOf } from '../gateway/numbered-body.ts'
import { pipelineHook } from '../load/payloads.ts'

export const JOBS = 5

/** Takes the place of the number; longer than any id that is made from it by writing digits behind. */
const HOLE = 700_000_001
const REF = 'ref of the number'

const parts = (status: string) => {
  const hook = pipelineHook(HOLE, JOBS) as { object_attributes: object }
  const unfinished = status === 'running' && { finished_at: null, duration: null }
  const run = { ...hook.object_attributes, ref: REF, status, ...unfinished }
  return JSON.stringify({ ...hook, object_attributes: run }).split(new RegExp(`(${HOLE}|${REF})`))
}
const templates = { success: parts('success'), running: parts('running') }

/**
 * JSON of a pipeline hook of some 4 KB. Its id is the number, its ref is what `idsIn` finds in whatever is made from it.
 *
 * @param number from 1 to 99,999,999
 */
export function numberedPipeline(number: number, status: 'success' | 'running' = 'success'): string {
  const [id, ref] = [String(number), idOf(number)]
  return templates[status].map((part) => (part === String(HOLE) ? id : part === REF ? ref : part)).join('')
}
