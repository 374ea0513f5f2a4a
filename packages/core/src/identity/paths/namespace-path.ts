import { errorTexts } from '../../base/kit/error-texts.ts'

const MAX_SEGMENT = 255
const segment = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/
const unwantedEnd = /(?:\.|\.git|\.atom)$/i

/** The first segments of the service's own URLs. */
const reserved = new Set(
  (
    '-,.well-known,admin,api,assets,dashboard,explore,favicon.ico,files,groups,health_check,help,import,jwt,login,' +
    'oauth,profile,projects,public,robots.txt,search,sitemap,sitemap.xml,snippets,unsubscribe,uploads,users,v2'
  ).split(','),
)

/**
 * Returns what is wrong with one segment of a path, or `undefined` if it is valid. A segment is a username, or the path
 * of a group or project.
 */
export function validatePathSegment(path: string): string | undefined {
  if (path === '') return errorTexts.blank
  if (path.length > MAX_SEGMENT) return errorTexts.tooLong(MAX_SEGMENT)
  if (!segment.test(path) || unwantedEnd.test(path))
    return "may hold letters, digits, '_', '-' and '.' only, not begin with '-' or '.', and not end with '.', '.git' or '.atom'"
  return undefined
}

/** Works like `validatePathSegment` for a username or the path of a top-level group. */
export const validateTopLevelSegment = (path: string): string | undefined =>
  validatePathSegment(path) ?? (reserved.has(path.toLowerCase()) ? 'is a reserved name' : undefined)
