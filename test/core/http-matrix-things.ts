import {
  createGroupToken,
  createImpersonationToken,
  createIssue,
  createMergeRequest,
  createProjectToken,
  createTag,
  type Group,
  putPipelineRecord,
  type User,
} from '@penstock/core'
import { withBranch, withRepository } from './http-matrix-repository-things.ts'
import type { MatrixServer } from './http-matrix-server.ts'
import { type Maker, matrixAreas, type ThingContext, type Values } from './matrix-area.ts'

const FIRST_PIPELINE = 1_000_000

/** The things of all areas that have no file in `areas/`. */
const makers: Readonly<Record<string, Maker>> = {
  user: async ({ server }) => valuesOf(await server.createUser()),
  'blocked user': ({ server }) => userInState(server, 'blocked'),
  'deactivated user': ({ server }) => userInState(server, 'deactivated'),
  'own token': async ({ server, caller }) => ({ id: (await server.personalToken(caller, ['api'])).id }),
  'personal token': async ({ server }) => ({ id: (await server.personalToken(await server.createUser(), ['api'])).id }),
  'impersonation token': async ({ server: { world, root }, server }) => {
    const user = await server.createUser()
    const draft = { userId: user.id, name: 'i', scopes: ['api'] }
    const { id } = await world.perform(root, createImpersonationToken, draft)
    return { user_id: user.id, impersonation_token_id: id }
  },
  'project token': async ({ server: { world, root }, parent }) => {
    const draft = { project: parent!.id, name: 'bot', scopes: ['api'], accessLevel: 10 }
    return { token_id: (await world.perform(root, createProjectToken, draft)).id }
  },
  'group token': async ({ server: { world, root }, parent }) => {
    const draft = { group: parent!.id, name: 'bot', scopes: ['api'], accessLevel: 10 }
    return { token_id: (await world.perform(root, createGroupToken, draft)).id }
  },
  member: async ({ server, parent }) => {
    const user = await server.createUser()
    await server.world.member(parent!, user, 10)
    return { user_id: user.id }
  },
  subgroup: async ({ server, parent }) => {
    await server.create('group', parent!.visibility, parent as Group)
    return {}
  },
  'project below': async ({ server, parent }) => {
    await server.create('project', parent!.visibility, parent as Group)
    return {}
  },
  'target group': async ({ server }) => ({ target: (await server.create('group', 'private')).id }),
  'own issue': async (context) => {
    const values = await makers.issue!(context)
    await setAuthor(context, 'issues')
    return values
  },
  'own merge request': async (context) => {
    const values = await makers['merge request']!(context)
    await setAuthor(context, 'merge_requests')
    return values
  },
  'issue of another': async (context) => {
    const values = await makers.issue!(context)
    await setAuthor(context, 'issues', (await context.server.createUser()).id)
    return values
  },
  'merge request of another': async (context) => {
    const values = await makers['merge request']!(context)
    await setAuthor(context, 'merge_requests', (await context.server.createUser()).id)
    return values
  },
  'confidential issue': async ({ server: { world, root }, parent }) => {
    const draft = { project: parent!.id, title: 'Poison', confidential: true }
    return { issue_iid: (await world.perform(root, createIssue, draft)).iid }
  },
  issue: async ({ server: { world, root }, parent }) => {
    const { iid } = await world.perform(root, createIssue, { project: parent!.id, title: 'Sow' })
    return { issue_iid: iid }
  },
  'merge request': async ({ server, parent }) => {
    const { world, root } = server
    await withBranch(server, parent!)
    const draft = { project: parent!.id, title: 'Seeds', sourceBranch: 'seeds', targetBranch: 'main' }
    const { iid } = await world.perform(root, createMergeRequest, draft)
    return { merge_request_iid: iid }
  },
  pipeline: async ({ server: { world, root }, parent }) => {
    // Each project has its own pipeline id.
    const id = FIRST_PIPELINE + parent!.id
    await world.perform(root, putPipelineRecord, {
      project: parent!.id,
      pipelineId: id,
      objectAttributes: { id, status: 'success', ref: 'main', variables: [{ key: 'STAGE', value: 'poison' }] },
      builds: [{ id: 380, status: 'success' }],
      bridges: [{ id: 381, status: 'success' }],
      payload: '',
    })
    return { pipeline_id: id, job_id: 380 }
  },
  repository: ({ server, parent }) => withRepository(server, parent!),
  branch: ({ server, parent }) => withBranch(server, parent!),
  tag: async ({ server, parent }) => {
    const values = await withRepository(server, parent!)
    await server.world.perform(server.root, createTag, { project: parent!.id, tagName: 'v1', ref: 'main' })
    return { ...values, tag_name: 'v1' }
  },
}

/** How each thing is created, by its name in `needs`. */
export const allMakers: Readonly<Record<string, Maker>> = Object.assign(
  {},
  makers,
  ...(await matrixAreas()).map(({ things }) => things),
)

/** Makes the caller the author of the project's only object, as if they had created it when they were a member. */
async function setAuthor(
  { server, parent, caller }: ThingContext,
  table: 'issues' | 'merge_requests',
  id = caller.id,
): Promise<void> {
  await server.world.core.db.write((db) =>
    db.updateTable(table).set({ author_id: id }).where('project_id', '=', parent!.id).execute(),
  )
}

const valuesOf = ({ id, username }: User): Values => ({ id, user_id: id, username })

async function userInState(server: MatrixServer, state: 'blocked' | 'deactivated'): Promise<Values> {
  const user = await server.createUser()
  await server.world.core.db.write((db) => db.updateTable('users').set({ state }).where('id', '=', user.id).execute())
  return valuesOf(user)
}

/** The things that are only read, by parent and thing, which are created once. */
const cache = new WeakMap<MatrixServer, Map<string, Promise<Values>>>()

export async function valuesFor(
  things: readonly string[],
  context: ThingContext,
  { once }: { readonly once: boolean },
): Promise<Values> {
  const known = cache.get(context.server) ?? new Map<string, Promise<Values>>()
  cache.set(context.server, known)
  const all: Values[] = []
  for (const thing of things) {
    const { parent, caller } = context
    const key = `${thing} ${thing.startsWith('own ') ? `user ${caller.id}` : `${parent?.kind} ${parent?.id}`}`
    const values = (once ? known.get(key) : undefined) ?? allMakers[thing]!(context)
    if (once) known.set(key, values)
    all.push(await values)
  }
  return Object.assign({}, ...all) as Values
}
