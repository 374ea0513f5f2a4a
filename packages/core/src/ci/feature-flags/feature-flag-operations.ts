import { DomainError, notFound } from '../../base/kit/domain-error.ts'
import { errorTexts } from '../../base/kit/error-texts.ts'
import { newObject, validate, withInput } from '../../base/kit/field-table.ts'
import type { Page } from '../../base/kit/page.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project, ProjectRef } from '../../base/model/project.ts'
import { command, query } from '../../base/operations/operation.ts'
import { recordChange } from '../../base/operations/record-change.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import {
  createFlagInput,
  type FeatureFlag,
  flagDraft,
  flagEvents,
  flagInput,
  listFlagsInput,
  MAX_FLAGS,
  type ShownFeatureFlag,
  updateFlagInput,
} from './feature-flag.ts'
import {
  countFlags,
  deleteFlag,
  findFlag,
  insertFlag,
  pageOfFlags,
  updateFlagRow,
  userListsById,
} from './feature-flag-store.ts'
import { strategiesAfter } from './strategies.ts'

const subject = (context: ReadContext, { project }: { readonly project: ProjectRef }) => getProject(context, project)
const reads = { permission: 'read_feature_flag', subject } as const
const writes = { permission: 'admin_feature_flag', subject } as const

export const listFeatureFlags = query(
  { name: 'listFeatureFlags', input: listFlagsInput, ...reads },
  async (context, input): Promise<Page<ShownFeatureFlag>> => {
    const page = await pageOfFlags(context, context.subject, input)
    return { ...page, items: await shown(context, context.subject, page.items) }
  },
)

export const getFeatureFlag = query(
  { name: 'getFeatureFlag', input: flagInput, ...reads },
  async (context, { featureFlagName }): Promise<ShownFeatureFlag> =>
    shownOne(context, context.subject, await requireFlag(context, context.subject, featureFlagName)),
)

export const createFeatureFlag = command(
  { name: 'createFeatureFlag', input: createFlagInput, ...writes },
  async (tx, { strategies = [], version: _, ...input }): Promise<ShownFeatureFlag> => {
    const project = tx.subject
    const draft = newObject(flagDraft, input)
    validate(flagDraft, draft, await takenName(tx, project, draft.name))
    if ((await countFlags(tx, project)) >= MAX_FLAGS) {
      const message = `Maximum number of project feature flags (${MAX_FLAGS}) exceeded`
      throw new DomainError({ code: 'refused', message })
    }
    const flag = await insertFlag(tx, {
      ...draft,
      projectId: project.id,
      strategies: await strategiesAfter(tx, project, [], strategies),
    })
    await recordChange(tx, flagEvents, 'created', { after: flag, projectId: project.id })
    return shownOne(tx, project, flag)
  },
)

export const updateFeatureFlag = command(
  { name: 'updateFeatureFlag', input: updateFlagInput, ...writes },
  async (tx, { featureFlagName, strategies = [], ...input }): Promise<ShownFeatureFlag> => {
    const project = tx.subject
    const before = await requireFlag(tx, project, featureFlagName)
    const draft = withInput(flagDraft, before, input)
    validate(flagDraft, draft, draft.name === before.name ? {} : await takenName(tx, project, draft.name))
    const changed = { ...draft, strategies: await strategiesAfter(tx, project, before.strategies, strategies) }
    const after = await updateFlagRow(tx, changed)
    await recordChange(tx, flagEvents, 'updated', { before, after, projectId: project.id })
    return shownOne(tx, project, after)
  },
)

/** Removes a flag, and returns it as it was. */
export const removeFeatureFlag = command(
  { name: 'removeFeatureFlag', input: flagInput, ...writes, isConditional: true },
  async (tx, { featureFlagName }): Promise<ShownFeatureFlag> => {
    const before = await requireFlag(tx, tx.subject, featureFlagName)
    tx.requireUnmodified(before.updatedAtMs)
    await deleteFlag(tx, before.id)
    await recordChange(tx, flagEvents, 'removed', { before, projectId: tx.subject.id })
    return shownOne(tx, tx.subject, before)
  },
)

async function requireFlag(context: ReadContext, project: Project, name: string): Promise<FeatureFlag> {
  const flag = await findFlag(context, project, name)
  if (flag === undefined) throw notFound()
  return flag
}

const takenName = async (context: ReadContext, project: Project, name: string) =>
  (await findFlag(context, project, name)) === undefined ? {} : { name: [errorTexts.taken] }

const shownOne = async (context: ReadContext, project: Project, flag: FeatureFlag): Promise<ShownFeatureFlag> =>
  (await shown(context, project, [flag]))[0]!

/** Returns flags with the lists of users that their strategies name. */
async function shown(
  context: ReadContext,
  project: Project,
  flags: readonly FeatureFlag[],
): Promise<ShownFeatureFlag[]> {
  const ids = flags.flatMap(({ strategies }) => strategies.flatMap(({ userListId }) => userListId ?? []))
  const lists = await userListsById(context, project, ids)
  return flags.map((flag) => ({
    ...flag,
    strategies: flag.strategies.map((each) => ({
      ...each,
      userList: each.userListId === undefined ? undefined : lists.get(each.userListId),
    })),
  }))
}
