import { DomainError, notFound } from '../../base/kit/domain-error.ts'
import { errorTexts } from '../../base/kit/error-texts.ts'
import { newObject, validate, withInput } from '../../base/kit/field-table.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project, ProjectRef } from '../../base/model/project.ts'
import { command, query } from '../../base/operations/operation.ts'
import { recordChange } from '../../base/operations/record-change.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import {
  countUserLists,
  deleteUserList,
  findUserList,
  insertUserList,
  isListUsed,
  pageOfUserLists,
  updateUserListRow,
} from './feature-flag-store.ts'
import {
  createUserListInput,
  listUserListsInput,
  MAX_LISTS,
  type UserList,
  updateUserListInput,
  userListDraft,
  userListEvents,
  userListInput,
} from './user-list.ts'

const subject = (context: ReadContext, { project }: { readonly project: ProjectRef }) => getProject(context, project)
const reads = { permission: 'read_feature_flag', subject } as const
const writes = { permission: 'admin_feature_flag', subject } as const

export const listUserLists = query({ name: 'listUserLists', input: listUserListsInput, ...reads }, (context, input) =>
  pageOfUserLists(context, context.subject, input),
)

export const getUserList = query({ name: 'getUserList', input: userListInput, ...reads }, (context, { iid }) =>
  requireUserList(context, context.subject, iid),
)

export const createUserList = command(
  { name: 'createUserList', input: createUserListInput, ...writes },
  async (tx, input): Promise<UserList> => {
    const project = tx.subject
    const draft = newObject(userListDraft, input)
    validate(userListDraft, draft, await takenName(tx, project, draft.name))
    if ((await countUserLists(tx, project)) >= MAX_LISTS) {
      const message = `Maximum number of feature flag user lists (${MAX_LISTS}) exceeded`
      throw new DomainError({ code: 'refused', message })
    }
    const list = await insertUserList(tx, { ...draft, projectId: project.id })
    await recordChange(tx, userListEvents, 'created', { after: list, projectId: project.id })
    return list
  },
)

export const updateUserList = command(
  { name: 'updateUserList', input: updateUserListInput, ...writes },
  async (tx, { iid, ...input }): Promise<UserList> => {
    const project = tx.subject
    const before = await requireUserList(tx, project, iid)
    const draft = withInput(userListDraft, before, input)
    validate(userListDraft, draft, draft.name === before.name ? {} : await takenName(tx, project, draft.name))
    const after = await updateUserListRow(tx, draft)
    await recordChange(tx, userListEvents, 'updated', { before, after, projectId: project.id })
    return after
  },
)

/** Removes a list that no strategy uses. */
export const removeUserList = command(
  { name: 'removeUserList', input: userListInput, ...writes, isConditional: true },
  async (tx, { iid }) => {
    const before = await requireUserList(tx, tx.subject, iid)
    tx.requireUnmodified(before.updatedAtMs)
    if (await isListUsed(tx, tx.subject, before.id))
      throw new DomainError({ code: 'conflict', reason: 'User list is associated with a strategy' })
    await deleteUserList(tx, before.id)
    await recordChange(tx, userListEvents, 'removed', { before, projectId: tx.subject.id })
  },
)

async function requireUserList(context: ReadContext, project: Project, iid: number): Promise<UserList> {
  const list = await findUserList(context, project, { iid })
  if (list === undefined) throw notFound()
  return list
}

const takenName = async (context: ReadContext, project: Project, name: string) =>
  (await findUserList(context, project, { name })) === undefined ? {} : { name: [errorTexts.taken] }
