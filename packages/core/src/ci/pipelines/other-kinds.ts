/** The members by which a body without `object_kind` is taken for another record. */
const otherMembers = /"(?:pipeline|build_id)"/

/**
 * Returns whether a body without `object_kind` has the shape of a job hook or of a bundle of REST answers, besides the shape
 * of a pipeline hook. The converter refuses such a body, so it must not be stored.
 *
 * @param payload the complete body, which has members that no record stores. It is parsed only if it may be such a body.
 */
export function hasOtherKind(payload: string): boolean {
  if (!otherMembers.test(payload)) return false
  const body = JSON.parse(payload) as Readonly<Record<string, unknown>>
  const hasAny = (...names: readonly string[]) => names.some((name) => name in body)
  const isJobHook = 'build_id' in body && 'build_status' in body
  const isBundle = isObject(body.pipeline) && hasAny('jobs', 'builds', 'bridges') && !hasAny('id', 'workflow')
  return isJobHook || isBundle
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)
