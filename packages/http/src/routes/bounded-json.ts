import { heaviestMember, MAX_ANSWER_BYTES } from '@penstock/json'
import { JsonAnswer } from '../answers/json-answer.ts'
import { RequestProblem } from '../bodies/request-problem.ts'
import type { Reply } from './route.ts'

/**
 * Writes the JSON of a reply, in several turns of the event loop if it is long. Other replies are returned as they are.
 *
 * @throws RequestProblem answer_too_large
 */
export async function withBoundedJson({ json, ...reply }: Reply, contentType: string): Promise<Reply> {
  if (json === undefined) return reply as Reply
  const answer = new JsonAnswer(MAX_ANSWER_BYTES)
  const fittingItems = Array.isArray(json) ? await answer.list(json, (item) => item) : 0
  const fits = Array.isArray(json) ? fittingItems === json.length : await answer.value(json)
  if (!fits) throw new RequestProblem({ kind: 'answer_too_large', fittingItems, member: heaviestMember(json) })
  return { ...reply, content: answer.end(), contentType }
}
