import type { Tx } from '../../base/operations/context.ts'
import { validatePathSegment, validateTopLevelSegment } from './namespace-path.ts'
import { isPathInUse } from './route-store.ts'

/**
 * Returns why a user, group or project may not have a path; `undefined` if it may.
 *
 * @param within the full path of the namespace above; `undefined` at the top level
 * @param formerly the current full path; a new path that differs from it only in letter case is allowed
 */
export async function validatePath(
  { db }: Pick<Tx, 'db'>,
  { path, within, formerly }: { path: string; within?: string | undefined; formerly?: string },
): Promise<string | undefined> {
  const wrong = within === undefined ? validateTopLevelSegment(path) : validatePathSegment(path)
  if (wrong !== undefined) return wrong
  const fullPath = within === undefined ? path : `${within}/${path}`
  if (fullPath.toLowerCase() === formerly?.toLowerCase()) return undefined
  return (await isPathInUse(db, fullPath)) ? PATH_TAKEN : undefined
}

export const PATH_TAKEN = 'has already been taken'
