import type { Tx } from '../kit/context.ts'
import { validatePathSegment, validateTopLevelSegment } from './namespace-path.ts'
import { isPathInUse } from './route-store.ts'

/**
 * Why a user, group or project may not have a path; `undefined` when it may.
 *
 * @param within full path of the namespace it lies in; `undefined` at the top
 * @param formerly full path that it has now: another letter case of it is free
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
