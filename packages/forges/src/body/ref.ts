const TAGS = 'refs/tags/'
const requestRef = /^refs\/(?:pull|pull-requests|merge-requests)\/([1-9]\d{0,17})\//

/** Returns the tag of a full ref such as `refs/tags/v1`; `undefined` for other refs. */
export const tagInRef = (ref: string | undefined): string | undefined =>
  ref?.startsWith(TAGS) ? ref.slice(TAGS.length) : undefined

/** Returns the number of a pull or merge request in its ref, such as `refs/pull/7/merge`; `undefined` for other refs. */
export function requestNumberInRef(ref: string | undefined): bigint | undefined {
  const number = requestRef.exec(ref ?? '')?.[1]
  return number === undefined ? undefined : BigInt(number)
}
