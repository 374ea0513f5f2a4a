import { accessLevels, createSnippet, projectWikis, type SpamSuspect, type User } from '@penstock/core'
import type { Json, ServedWorld } from './served-world.ts'

/** A world with the data of the examples in `contract-examples.md`. */
export interface ContractWorld {
  readonly callers: Readonly<Record<'alice' | 'mia', User>>
  /** Replaces the ids, addresses and times in the text of an example by those of this world. */
  translated(text: string): string
}

/** The examples are from 2025, but the clock of a world starts in 2026 and cannot go back. */
const YEARS_LATER = 2
const SITE_ISSUE_AT = '2027-01-15T08:00:00Z'
const NOW = '2027-03-01T10:00:00Z'
const README_BYTES = 1_204

/** Creates the objects of the examples. */
export async function contractWorld(served: ServedWorld): Promise<ContractWorld> {
  const { world } = served
  const post = (path: string, as: User, body: object) => served.must('POST', path, as, body)
  const put = (path: string, as: User, body: object) => served.must('PUT', path, as, body)
  const moveTo = (moment: string) => world.clock.advance(Date.parse(moment) - world.clock.nowMs())
  await moveTo(SITE_ISSUE_AT)

  const root = await world.user('root', { isAdministrator: true })
  const [alice, bob, olga, mia] = [
    await world.user('alice'),
    await world.user('bob'),
    await world.user('olga'),
    await world.user('mia'),
  ]
  await put(`/users/${alice.id}`, root, { name: 'Alice Ngo', public_email: 'alice@example.com' })

  const acme = await post('/groups', olga, { name: 'Acme', path: 'acme', visibility: 'public' })
  const tools = await post('/groups', olga, { name: 'tools', path: 'tools', parent_id: acme.id, visibility: 'public' })
  const projectIn = (group: Json, path: string, visibility: string) =>
    post('/projects', olga, { name: path, path, namespace_id: group.id, visibility })
  const site = await projectIn(acme, 'site', 'public')
  const app = await projectIn(acme, 'app', 'private')
  const kit = await projectIn(tools, 'kit', 'private')
  const atApp = `/projects/${app.id}`
  const addMember = (path: string, user: User, level: number, more: object = {}) =>
    post(`${path}/members`, olga, { user_id: user.id, access_level: level, ...more })
  await addMember(`/groups/${acme.id}`, alice, accessLevels.developer, { expires_at: '2028-01-01' })
  await addMember(atApp, alice, accessLevels.developer)
  await addMember(atApp, bob, accessLevels.developer)
  await addMember(atApp, mia, accessLevels.maintainer)

  const siteIssue = await post(`/projects/${site.id}/issues`, olga, { title: 'Broken link on start page' })
  await moveTo(NOW)

  await post(`/groups/${acme.id}/milestones`, olga, { title: 'Winter' })
  const spring = await post(`/groups/${acme.id}/milestones`, olga, {
    title: 'Spring',
    start_date: '2027-02-15',
    due_date: '2027-03-20',
  })
  await post(`${atApp}/labels`, olga, { name: 'bug', color: '#ff0000' })
  await post(`${atApp}/issues`, alice, { title: 'To be closed' })
  const inSpring: Json[] = []
  for (const { id } of [...Array(7).fill(app), ...Array(3).fill(kit)]) {
    inSpring.push(await post(`/projects/${id}/issues`, alice, { title: 'In spring', milestone_id: spring.id }))
  }
  for (const issue of inSpring.slice(0, 4)) {
    await put(`/projects/${issue.project_id}/issues/${issue.iid}`, alice, { state_event: 'close' })
  }

  const commit = async (branch: string, message: string, path: string, content: string, more: object = {}) => {
    const actions = [{ action: 'create', file_path: path, content }]
    return post(`${atApp}/repository/commits`, branch === 'main' ? mia : bob, {
      branch,
      commit_message: message,
      actions,
      ...more,
    })
  }
  await commit('main', 'Begin', 'README.md', '#'.repeat(README_BYTES))
  const mergeRequest = (branch: string, title: string) =>
    post(`${atApp}/merge_requests`, bob, {
      source_branch: branch,
      target_branch: 'main',
      title,
      reviewer_ids: [alice.id],
    })
  for (const branch of ['one', 'two', 'three']) {
    await commit(branch, branch, `${branch}.txt`, branch, { start_branch: 'main' })
    await mergeRequest(branch, branch)
  }
  const retry = await commit('retry', 'Retry on 503', 'retry.txt', 'again', { start_branch: 'main' })
  await put(atApp, root, { only_allow_merge_if_pipeline_succeeds: true })
  const toReview = await mergeRequest('retry', 'Add retry')
  const pages = await Promise.all(
    ['home', 'guides/setup'].map((title) =>
      world.perform(bob, projectWikis.create, { parent: app.id, title, content: title }),
    ),
  )
  const { db } = world.core
  await db.write((tx) => tx.updateTable('merge_requests').set({ iid: 14 }).where('id', '=', toReview.id).execute())

  for (const record of records(retry.id)) {
    await put(`${atApp}/pipeline_records/${record.object_attributes.id}`, alice, record)
  }

  await post(`${atApp}/variables`, mia, { key: 'SVC_OBSERVABILITY_EXPORT', value: 'traces,metrics' })
  await post(`${atApp}/variables`, mia, {
    key: 'SVC_OBSERVABILITY_TOKEN',
    value: 'not-to-be-shown',
    masked_and_hidden: true,
  })
  await post(`/groups/${acme.id}/variables`, olga, { key: 'REGISTRY_USER', value: 'reader' })

  await addSnippets(served, alice)

  const membershipOf = async (user: User) => {
    const members = db.read.selectFrom('members').select('id').where('group_id', '=', acme.id)
    return (await members.where('user_id', '=', user.id).executeTakeFirstOrThrow()).id
  }
  const variableOf = async (key: string) =>
    (await db.read.selectFrom('ci_variables').select('id').where('key', '=', key).executeTakeFirstOrThrow()).id
  const ids = new Map<string, number>([
    ['User/7', alice.id],
    ['User/8', bob.id],
    ['Group/4', acme.id],
    ['GroupMember/21', await membershipOf(olga)],
    ['GroupMember/22', await membershipOf(alice)],
    ['Project/11', site.id],
    ['Project/12', app.id],
    ['Issue/301', siteIssue.id],
    // The id of the next issue, which the example creates.
    ['Issue/310', inSpring.at(-1).id + 1],
    ['Milestone/5', spring.id],
    ['MergeRequest/90', toReview.id],
    ['WikiPage::Meta/44', pages[1]!.id!],
    ['Ci::Variable/3', await variableOf('SVC_OBSERVABILITY_EXPORT')],
    ['Ci::Variable/4', await variableOf('SVC_OBSERVABILITY_TOKEN')],
  ])

  return {
    callers: { alice, mia },
    translated: (text) =>
      text
        .replaceAll(/\b202[56](?=-\d\d-\d\d)/g, (year) => String(Number(year) + YEARS_LATER))
        .replaceAll('https://svc.example', served.url)
        .replaceAll('4be0aa17', retry.short_id)
        // The first challenge of this world.
        .replaceAll(/("spamLogId"|"spam_log_id"): 67/g, '$1: 1')
        .replaceAll(/(?<=gid:\/\/svc\/)[\w:]+\/\d+/g, (id) => id.replace(/\d+$/, (own) => String(ids.get(id) ?? own))),
  }
}

/** Adds two personal snippets, so that the next one has the id of the example, and a spam check of one title. */
async function addSnippets({ world }: ServedWorld, alice: User): Promise<void> {
  const lastId = (last: number) =>
    world.core.db.write((db) =>
      db
        .insertInto('internal_ids')
        .values({ parent: 'instance', kind: 'snippet', last })
        .onConflict((conflict) => conflict.columns(['parent', 'kind']).doUpdateSet({ last }))
        .execute(),
    )
  await lastId(15)
  for (const [title, filePath] of [
    ['shell setup', 'zshrc'],
    ['vim setup', 'vimrc'],
  ]) {
    const actions = [{ action: 'create', filePath, content: 'set' }]
    await world.perform(alice, createSnippet, { title, visibility: 'public', actions })
  }
  await lastId(18)
  Object.assign(world.core, {
    spamCheck: async ({ title }: SpamSuspect) =>
      title === 'Buy now' ? { kind: 'captcha', siteKey: 'site-key-1' } : { kind: 'ok' },
  })
}

interface PipelineRecord {
  readonly object_attributes: { readonly id: number }
}

/** Returns the pipeline records. Clients choose the ids of pipelines and jobs, so they equal those of the examples. */
function records(shaOfRetry: string): PipelineRecord[] {
  const sha = (beginning: string) => beginning.padEnd(40, '0')
  const user = (username: string) => ({ user: { id: 1, username, name: username } })
  const run = (id: number, iid: number, attributes: object, more: object = {}): PipelineRecord => ({
    ...{ object_kind: 'pipeline', builds: [], ...more },
    object_attributes: {
      ...{ id, iid, ref: 'main', tag: false, sha: sha('1'), source: 'push', status: 'success' },
      ...{ created_at: '2027-03-01 09:00:00 UTC', ...attributes },
    },
  })
  const job = (id: number, name: string, stage: string, status: string, more: object = {}) => ({
    id,
    name,
    stage,
    status,
    created_at: '2027-03-01 09:00:00 UTC',
    allow_failure: false,
    ...more,
  })
  return [
    run(310, 54, { status: 'failed' }),
    run(
      312,
      56,
      { status: 'failed', source: 'schedule', sha: sha('77aa01cd'), duration: 190, queued_duration: 2 },
      user('bob'),
    ),
    run(313, 57, {}, { builds: [job(530, 'deploy', 'deploy', 'manual', { when: 'manual', manual: true })] }),
    run(
      314,
      58,
      { status: 'failed', sha: sha('9f3c21ab'), duration: 184, queued_duration: 7.5 },
      {
        ...user('alice'),
        builds: [
          job(501, 'compile', 'build', 'success', { duration: 61 }),
          job(502, 'unit 1/2', 'test', 'failed', { duration: 98 }),
          job(503, 'unit 2/2', 'test', 'success', { duration: 95 }),
        ],
      },
    ),
    run(316, 59, { status: 'running', ref: 'retry', sha: shaOfRetry }),
    run(320, 61, { status: 'running' }, { bridges: [job(540, 'deploy-docs', 'deploy', 'running')] }),
    run(
      321,
      62,
      { status: 'running', source: 'parent_pipeline' },
      { source_pipeline: { pipeline_id: 320, job_id: 540, project: { path_with_namespace: 'acme/app' } } },
    ),
  ]
}
