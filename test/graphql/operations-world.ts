import { accessLevels, type User } from '@penstock/core'
import type { Json, ServedWorld } from './served-world.ts'

/** The data with which the operations of clients run. */
export interface OperationsWorld {
  readonly callers: Readonly<Record<string, User>>
  /** The values of the placeholders in the variables: ids, a commit and a cursor. */
  readonly values: Readonly<Record<string, string>>
}

const NOW = '2027-03-01T10:00:00Z'
const RECORDED_AT = '2027-03-01 09:00:00 UTC'

/** Creates `plant/loom` with objects of every kind, and `plant/shed/mill`. */
export async function operationsWorld(served: ServedWorld): Promise<OperationsWorld> {
  const { world } = served
  await world.clock.advance(Date.parse(NOW) - world.clock.nowMs())
  const root = await world.user('root', { isAdministrator: true })
  const [mira, noor] = [await world.user('mira'), await world.user('noor')]
  const post = (path: string, body: object, as: User = mira) => served.must('POST', path, as, body)

  const plant = await post('/groups', { name: 'Plant', path: 'plant', visibility: 'public' })
  const shed = await post('/groups', { name: 'Shed', path: 'shed', parent_id: plant.id, visibility: 'public' })
  const projectIn = (group: Json, path: string) =>
    post('/projects', { name: path, path, namespace_id: group.id, visibility: 'public', description: 'Cloth' })
  const loom = await projectIn(plant, 'loom')
  await projectIn(shed, 'mill')
  const at = `/projects/${loom.id}`
  await post(`${at}/members`, { user_id: noor.id, access_level: accessLevels.developer })

  const commit = (branch: string, commitMessage: string, files: Record<string, string>, more: object = {}) => {
    const actions = Object.entries(files).map(([path, content]) => ({ action: 'create', file_path: path, content }))
    return post(`${at}/repository/commits`, { branch, commit_message: commitMessage, actions, ...more })
  }
  await commit('main', 'Begin', { 'README.md': '# Loom\n', 'src/weave.ts': 'weave()\n', 'docs/use.md': 'Use it\n' })
  const head = await commit('main', 'Beginners\n\nSay more.', { 'LICENSE.txt': 'Free\n' })
  const branches = ['work', 'oil', 'paint']
  for (const branch of branches) {
    await commit(branch, `Do ${branch}`, { [`${branch}.txt`]: `${branch}\n` }, { start_branch: 'main' })
  }

  const planed = await commit('plane', 'Do plane', { 'plane.txt': 'plane\n' }, { start_branch: 'main' })

  const label = await post(`${at}/labels`, { name: 'noise', color: '#ff0000', description: 'Loud' })
  await post(`/groups/${plant.id}/labels`, { name: 'urgent', color: '#00ff00' })
  const milestone = await post(`${at}/milestones`, { title: 'Spring', due_date: '2027-05-01' })
  const otherMilestone = await post(`/groups/${plant.id}/milestones`, { title: 'Summer', due_date: '2027-08-01' })
  const attributes = { labels: 'noise,urgent', milestone_id: milestone.id, assignee_ids: [mira.id] }
  for (const [title, type] of [
    ['Loud', 'issue'],
    ['Slow', 'issue'],
    ['Broken', 'incident'],
  ]) {
    await post(`${at}/issues`, { title, issue_type: type, description: 'Words', due_date: '2027-04-01', ...attributes })
    await world.clock.advance(1_000)
  }
  await post(`${at}/merge_requests`, {
    ...{ title: 'Work on it', source_branch: 'work', target_branch: 'main', reviewer_ids: [noor.id], ...attributes },
  })
  await post(`${at}/merge_requests`, { title: 'Plane it', source_branch: 'plane', target_branch: 'main' })
  await post(`${at}/variables`, { key: 'SPEED', value: 'slow' })
  await post(`/groups/${plant.id}/variables`, { key: 'MILL', value: 'wind' })

  const [workHead] = await served.must('GET', `${at}/repository/commits?ref_name=work`, mira)
  for (const record of records(head.id, workHead.id)) {
    await served.must('PUT', `${at}/pipeline_records/${record.object_attributes.id}`, mira, record)
  }

  const { body } = await served.graphql(
    `{ project(fullPath: "plant/loom") {
      pipeline(iid: "1") { id stages { nodes { id } } jobs { nodes { id name } } }
      old: pipeline(iid: "4") { id } label(title: "noise") { id } issues(first: 1) { pageInfo { endCursor } }
    } }`,
    mira,
  )
  const { pipeline, old, issues, label: shownLabel } = body.data.project
  const gid = (type: string, { id }: Json) => `gid://svc/${type}/${id}`
  return {
    callers: { root, mira },
    values: {
      sha: head.id,
      planeSha: planed.id,
      cursor: issues.pageInfo.endCursor,
      pipeline: pipeline.id,
      oldPipeline: old.id,
      stage: pipeline.stages.nodes[0].id,
      job: pipeline.jobs.nodes.find(({ name }: Json) => name === 'weave').id,
      label: shownLabel.id ?? gid('ProjectLabel', label),
      milestone: gid('Milestone', milestone),
      otherMilestone: gid('Milestone', otherMilestone),
    },
  }
}

interface PipelineRecord {
  readonly object_attributes: { readonly id: number }
}

function records(sha: string, workSha: string): PipelineRecord[] {
  const job = (id: number, name: string, stage: string, status: string, more: object = {}) => ({
    ...{ id, name, stage, status, created_at: RECORDED_AT, started_at: RECORDED_AT, finished_at: RECORDED_AT },
    ...{ duration: 5, queued_duration: 1, allow_failure: false, ...more },
  })
  const record = (id: number, iid: number, attributes: object, more: object = {}): PipelineRecord => ({
    ...{ object_kind: 'pipeline', user: { id: 1, username: 'mira', name: 'mira' }, builds: [], ...more },
    object_attributes: {
      ...{ id, iid, ref: 'main', tag: false, sha, source: 'push', status: 'success', stages: ['build', 'test'] },
      ...{ created_at: RECORDED_AT, finished_at: RECORDED_AT, duration: 60, queued_duration: 3, ...attributes },
    },
  })
  const runner = { id: 7, description: 'a runner', runner_type: 'instance_type', active: true, tags: ['linux'] }
  const builds = [
    job(501, 'weave', 'build', 'success', { runner, artifacts_file: { filename: 'cloth.zip', size: 100 } }),
    job(502, 'look', 'test', 'failed', { runner, failure_reason: 'script_failure' }),
  ]
  const parent = { pipeline_id: 310, job_id: 540, project: { path_with_namespace: 'plant/loom' } }
  return [
    record(309, 4, {}),
    record(310, 1, { status: 'failed' }, { builds, bridges: [job(540, 'pack', 'test', 'success')] }),
    record(
      311,
      2,
      { source: 'parent_pipeline' },
      { source_pipeline: parent, builds: [job(601, 'fold', 'build', 'success')] },
    ),
    record(
      312,
      3,
      { ref: 'work', sha: workSha, status: 'failed' },
      { builds: [job(701, 'repair', 'build', 'failed')] },
    ),
  ]
}
