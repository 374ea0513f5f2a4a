/** A reference to an issue in a text, such as `#12`, `ops/tools#12`, or its URL. */
export interface IssueReference {
  /** A full path, or one within the same group; `undefined` for the project of the text. */
  readonly project: string | undefined
  readonly iid: number
  /** Whether the text says that it closes the issue: `Closes #12 and #13`. */
  readonly isClosing: boolean
}

/** Further references are not read. */
const MAX_REFERENCES = 1_000
/** Longer than every closing word with what follows it. */
const LOOKED_BACK = 40
const MAX_IID_DIGITS = 9

/** References in code do not count. */
const code = /```[\s\S]*?```|`[^`\n]*`/g
const path = '[A-Za-z0-9_][\\w.-]*(?:/[\\w.-]+)*'
const short = `(?<![\\w./-])(?<path>${path})?#(?<iid>\\d{1,${MAX_IID_DIGITS}})\\b`
const afterUrl = `/(?<urlPath>${path})/-/issues/(?<urlIid>\\d{1,${MAX_IID_DIGITS}})\\b`
const closingWord =
  /(?:^|[^\w])(?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?):? +(?:issues? +)?$/i
const betweenClosed = /^(?: *,? +and +| *,? *)(?:issues? +)?$/i

/**
 * Returns the references in their order.
 *
 * @param externalUrl the beginning of the URLs of this instance; without it, URLs do not count
 */
export function issueReferencesIn(text: string, externalUrl?: string): IssueReference[] {
  const prose = text.replace(code, ' ')
  const own = externalUrl?.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  const reference = new RegExp(own === undefined ? short : `${own}${afterUrl}|${short}`, 'g')
  const found: IssueReference[] = []
  let previousEnd = 0
  let previousCloses = false
  for (const match of prose.matchAll(reference)) {
    const { path, iid, urlPath, urlIid } = match.groups!
    const before = prose.slice(Math.max(previousEnd, match.index - LOOKED_BACK), match.index)
    const isNext: boolean = previousCloses && match.index - previousEnd < LOOKED_BACK && betweenClosed.test(before)
    previousCloses = isNext || closingWord.test(before)
    previousEnd = match.index + match[0].length
    found.push({ project: urlPath ?? path, iid: Number(iid ?? urlIid), isClosing: previousCloses })
    if (found.length === MAX_REFERENCES) break
  }
  return found
}
