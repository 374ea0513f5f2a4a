import { z } from 'zod'
import {
  changesOf,
  hasText,
  id,
  int,
  maxCharacters,
  type ObjectOf,
  parametersOf,
  text,
  time,
} from '../../base/kit/field-table.ts'
import { pageInput } from '../../base/kit/page.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import { comparedFields, type RecordedKind } from '../../base/operations/record-change.ts'

/** The limit of the lists of a project. */
export const MAX_LISTS = 1_000
/** The limit of all ids of a list, with their commas. */
export const MAX_XIDS_LENGTH = 64_000
const MAX_XID = 256

/** Returns the message if a text is not a list of different ids, separated by commas. */
export function xidsProblem(xids: string, name: string): string | undefined {
  const ids = xids === '' ? [] : xids.split(',')
  const isValid = (each: string) => each !== '' && each.trim() === each && each.length <= MAX_XID
  if (!/[\0\n\r\t\p{Surrogate}]/u.test(xids) && new Set(ids).size === ids.length && ids.every(isValid)) return undefined
  return `${name} must be a string of unique comma separated values each ${MAX_XID} characters or less`
}

export const userListDraft = {
  name: text('name').check(hasText, maxCharacters(255)),
  /** The ids by which programs know their users. */
  userXids: text('user_xids').check(
    (xids) => xidsProblem(xids, 'user_xids') ?? false,
    (xids) => xids.length > MAX_XIDS_LENGTH && `is too long (maximum is ${MAX_XIDS_LENGTH} characters)`,
  ),
}
export const userListFields = {
  id: id(),
  iid: int('iid'),
  projectId: int('project_id'),
  ...userListDraft,
  createdAtMs: time('created_at_ms'),
  updatedAtMs: time('updated_at_ms'),
}

/** Users of a program, for strategies that turn a flag on for them. */
export interface UserList extends ObjectOf<typeof userListFields> {}

const one = { project: namespaceRef, iid: z.int() }
export const listUserListsInput = z.object({
  project: namespaceRef,
  search: z.string().max(255).optional(),
  ...pageInput,
})
export const userListInput = z.object(one)
export const createUserListInput = z.object({ project: namespaceRef, ...parametersOf(userListDraft) })
export const updateUserListInput = z.object({ ...one, ...changesOf(userListDraft) })

export const userListEvents: RecordedKind<UserList> = {
  noun: 'feature_flag_user_list',
  compared: comparedFields(userListFields),
  detailsOf: ({ name }) => ({ name }),
}
