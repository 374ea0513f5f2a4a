import {
  createBranch,
  createCommit,
  createGroupToken,
  createImpersonationToken,
  createIssue,
  createMergeRequest,
  createProjectToken,
  createTag,
  type Group,
  getFile,
  groupLabels,
  groupMilestones,
  groupVariables,
  listCommits,
  projectLabels,
  projectMilestones,
  projectVariables,
  putPipelineRecord,
  type User,
} from '@penstock/core'
import type { Thing } from './http-matrix-row.ts'
import type { Parent, Stage } from './http-matrix-stage.ts'

/** Parameters of paths and bodies, by their names. */
export type Values = Readonly<Record<string, string | number>>

interface Making {
  readonly stage: Stage
  /** The parent that `:id` names, if the row has one. */
  readonly parent: Parent | undefined
  /** Whoever asks, or stands for a bot or nobody. */
  readonly caller: User
}

const FIRST_PIPELINE = 1_000_000
const WEEK = { startDate: '2026-02-01', dueDate: '2026-02-08' }

/** How each comes to be there, on behalf of the administrator; what can be said of it afterwards. */
const makers: Readonly<Record<Thing, (making: Making) => Promise<Values>>> = {
  user: async ({ stage }) => valuesOf(await stage.freshUser()),
  'blocked user': ({ stage }) => userInState(stage, 'blocked'),
  'deactivated user': ({ stage }) => userInState(stage, 'deactivated'),
  'own token': async ({ stage, caller }) => ({ id: (await stage.personalToken(caller, ['api'])).id }),
  'personal token': async ({ stage }) => ({ id: (await stage.personalToken(await stage.freshUser(), ['api'])).id }),
  'impersonation token': async ({ stage: { world, root }, stage }) => {
    const user = await stage.freshUser()
    const draft = { userId: user.id, name: 'i', scopes: ['api'] }
    const { id } = await world.perform(root, createImpersonationToken, draft)
    return { user_id: user.id, impersonation_token_id: id }
  },
  'project token': async ({ stage: { world, root }, parent }) => {
    const draft = { project: parent!.id, name: 'bot', scopes: ['api'], accessLevel: 10 }
    return { token_id: (await world.perform(root, createProjectToken, draft)).id }
  },
  'group token': async ({ stage: { world, root }, parent }) => {
    const draft = { group: parent!.id, name: 'bot', scopes: ['api'], accessLevel: 10 }
    return { token_id: (await world.perform(root, createGroupToken, draft)).id }
  },
  member: async ({ stage, parent }) => {
    const user = await stage.freshUser()
    await stage.world.member(parent!, user, 10)
    return { user_id: user.id }
  },
  subgroup: async ({ stage, parent }) => {
    await stage.fresh('group', parent!.visibility, parent as Group)
    return {}
  },
  'project below': async ({ stage, parent }) => {
    await stage.fresh('project', parent!.visibility, parent as Group)
    return {}
  },
  home: async ({ stage }) => ({ home: (await stage.fresh('group', 'private')).id }),
  label: async ({ stage: { world, root }, parent }) => {
    const operations = parent!.kind === 'group' ? groupLabels : projectLabels
    const draft = { parent: parent!.id, name: 'blue', color: '#0000ff' }
    return { label_id: (await world.perform(root, operations.create, draft)).id }
  },
  milestone: async ({ stage: { world, root }, parent }) => {
    const operations = parent!.kind === 'group' ? groupMilestones : projectMilestones
    return { milestone_id: (await world.perform(root, operations.create, { parent: parent!.id, title: 'Spring' })).id }
  },
  'milestone contents': async ({ stage, parent }) => {
    const { world, root } = stage
    const operations = parent!.kind === 'group' ? groupMilestones : projectMilestones
    const draft = { parent: parent!.id, title: 'Week', ...WEEK }
    const { id: milestoneId } = await world.perform(root, operations.create, draft)
    const project =
      parent!.kind === 'project' ? parent! : await stage.fresh('project', parent!.visibility, parent as Group)
    await world.perform(root, createIssue, { project: project.id, title: 'Sow', milestoneId })
    await withBranch(stage, project, 'weeds')
    const mergeRequest = { title: 'Weeds', sourceBranch: 'weeds', targetBranch: 'main', milestoneId }
    await world.perform(root, createMergeRequest, { project: project.id, ...mergeRequest })
    return { milestone_id: milestoneId }
  },
  'own issue': async (making) => {
    const values = await makers.issue(making)
    await giveTo(making, 'issues')
    return values
  },
  'own merge request': async (making) => {
    const values = await makers['merge request'](making)
    await giveTo(making, 'merge_requests')
    return values
  },
  'confidential issue': async ({ stage: { world, root }, parent }) => {
    const draft = { project: parent!.id, title: 'Poison', confidential: true }
    return { issue_iid: (await world.perform(root, createIssue, draft)).iid }
  },
  issue: async ({ stage: { world, root }, parent }) => {
    const { iid } = await world.perform(root, createIssue, { project: parent!.id, title: 'Sow' })
    return { issue_iid: iid }
  },
  'merge request': async ({ stage, parent }) => {
    const { world, root } = stage
    await withBranch(stage, parent!)
    const draft = { project: parent!.id, title: 'Seeds', sourceBranch: 'seeds', targetBranch: 'main' }
    const { iid } = await world.perform(root, createMergeRequest, draft)
    return { merge_request_iid: iid }
  },
  variable: async ({ stage: { world, root }, parent }) => {
    const draft = { key: 'KEY', value: 'plain' }
    const operations = parent!.kind === 'group' ? groupVariables : projectVariables
    await world.perform(root, operations.create, { parent: parent!.id, ...draft })
    return { key: 'KEY' }
  },
  pipeline: async ({ stage: { world, root }, parent }) => {
    // No two projects have pipelines of one id.
    const id = FIRST_PIPELINE + parent!.id
    await world.perform(root, putPipelineRecord, {
      project: parent!.id,
      pipelineId: id,
      objectAttributes: { id, status: 'success', ref: 'main' },
      builds: [{ id: 380, status: 'success' }],
      bridges: [{ id: 381, status: 'success' }],
      payload: '',
    })
    return { pipeline_id: id, job_id: 380 }
  },
  repository: ({ stage, parent }) => withRepository(stage, parent!),
  branch: ({ stage, parent }) => withBranch(stage, parent!),
  tag: async ({ stage, parent }) => {
    const values = await withRepository(stage, parent!)
    await stage.world.perform(stage.root, createTag, { project: parent!.id, tagName: 'v1', ref: 'main' })
    return { ...values, tag_name: 'v1' }
  },
}

async function withBranch(stage: Stage, project: Parent, branch = 'seeds'): Promise<Values> {
  const values = await withRepository(stage, project)
  const { world, root } = stage
  // It may be there already.
  await world.perform(root, createBranch, { project: project.id, branch, ref: 'main' }).catch(() => {})
  return { ...values, branch }
}

async function withRepository({ world, root }: Stage, { id: project }: Parent): Promise<Values> {
  const { items } = await world.perform(root, listCommits, { project })
  if (items.length === 0)
    await world.perform(root, createCommit, {
      project,
      branch: 'main',
      commitMessage: 'Begin',
      actions: [{ action: 'create', filePath: 'README.md', content: '# tools\n' }],
    })
  const { blobSha, commitSha } = await world.perform(root, getFile, { project, filePath: 'README.md', ref: 'main' })
  return { sha: commitSha, blob: blobSha, file_path: 'README.md' }
}

/** The only one of the project: as if whoever asks had made it when they could. */
async function giveTo({ stage, parent, caller }: Making, table: 'issues' | 'merge_requests'): Promise<void> {
  await stage.world.core.db.write((db) =>
    db.updateTable(table).set({ author_id: caller.id }).where('project_id', '=', parent!.id).execute(),
  )
}

const valuesOf = ({ id, username }: User): Values => ({ id, user_id: id, username })

async function userInState(stage: Stage, state: 'blocked' | 'deactivated'): Promise<Values> {
  const user = await stage.freshUser()
  await stage.world.core.db.write((db) => db.updateTable('users').set({ state }).where('id', '=', user.id).execute())
  return valuesOf(user)
}

/** By parent and thing: what only is looked at is made once. */
const made = new WeakMap<Stage, Map<string, Promise<Values>>>()

export async function valuesFor(
  things: readonly Thing[],
  making: Making,
  { once }: { readonly once: boolean },
): Promise<Values> {
  const known = made.get(making.stage) ?? new Map<string, Promise<Values>>()
  made.set(making.stage, known)
  const all: Values[] = []
  for (const thing of things) {
    const { parent, caller } = making
    const key = `${thing} ${thing === 'own token' ? `user ${caller.id}` : `${parent?.kind} ${parent?.id}`}`
    const values = (once ? known.get(key) : undefined) ?? makers[thing](making)
    if (once) known.set(key, values)
    all.push(await values)
  }
  return Object.assign({}, ...all) as Values
}
