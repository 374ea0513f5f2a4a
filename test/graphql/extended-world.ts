import type { User } from '@penstock/core'
import type { Place } from './populate.ts'
import type { Json, ServedWorld } from './served-world.ts'

interface ExtensionOptions {
  readonly served: ServedWorld
  readonly root: User
  /** The group to extend. */
  readonly group: Pick<Place, 'id'>
  /** A project in the group that has `size` merge requests and pipelines. */
  readonly project: Pick<Place, 'id' | 'path'>
  readonly size: number
}

const OWNER = 50
const MAX_COMMITS = 5
/** A larger number would push the other groups and projects off the first page. */
const MAX_PLACES = 20
/** The id of the first pipeline of a merge request. */
const FIRST_PIPELINE = 100

/**
 * Adds groups, projects and users with one object of each kind, and pipelines of merge requests, so that every list grows with
 * `size`.
 */
export async function extendWorld({
  served,
  root,
  group: { id: groupId },
  project,
  size,
}: ExtensionOptions): Promise<void> {
  const post = (path: string, body: object) => served.must('POST', path, root, body)
  const get = (path: string): Promise<Json[]> => served.must('GET', path, root)
  const visibility = 'public'
  for (let count = Math.min(size, MAX_PLACES); count > 0; count -= 1) {
    const user = await served.world.user(`extra-${count}`)
    const member = { user_id: user.id, access_level: OWNER }
    await post(`/groups/${groupId}/members`, member)
    await post(`/projects/${project.id}/members`, member)
    await post(`/groups/${groupId}/variables`, { key: `GROUP_KEY_${count}`, value: `secret value ${count}` })
    await addGroup(count, member)
    await addProject(count)
  }
  await addMergeRequestPipelines()

  async function addGroup(count: number, member: object): Promise<void> {
    const draft = { name: `G ${count}`, path: `g-${count}`, visibility }
    const extra = await post('/groups', { ...draft, parent_id: groupId })
    await post(`/groups/${extra.id}/members`, member)
    await post(`/groups/${extra.id}/labels`, { name: 'label', color: '#ff0000' })
    await post(`/groups/${extra.id}/variables`, { key: 'KEY', value: 'secret value' })
    await post('/groups', { ...draft, path: 'below', parent_id: extra.id })
    await post('/projects', { name: 'P', path: 'p', namespace_id: extra.id, visibility })
  }

  async function addProject(count: number): Promise<void> {
    const extra = await post('/projects', { name: `E ${count}`, path: `e-${count}`, namespace_id: groupId, visibility })
    const at = `/projects/${extra.id}`
    await post(`${at}/members`, { user_id: root.id, access_level: OWNER })
    const label = await post(`${at}/labels`, { name: 'label 1 of /projects/1', color: '#ff0000' })
    const milestone = await post(`${at}/milestones`, { title: 'Milestone' })
    const attributes = { labels: [label.name], milestone_id: milestone.id, assignee_ids: [root.id] }
    await post(`${at}/issues`, { title: 'Issue', ...attributes })
    await commit(at, 'main', 0)
    const { id: sha } = await commit(at, 'work', 1, { start_branch: 'main' })
    const draft = {
      source_branch: 'work',
      target_branch: 'main',
      title: 'Work',
      reviewer_ids: [root.id],
      ...attributes,
    }
    await post(`${at}/merge_requests`, draft)
    const source_pipeline = { pipeline_id: FIRST_PIPELINE, project: { path_with_namespace: project.path } }
    await pipeline(at, 200_000 + count, { ref: 'main' })
    await pipeline(at, 100_000 + count, { ref: 'work', sha }, { source_pipeline })
  }

  function commit(at: string, branch: string, count: number, more: object = {}): Promise<Json> {
    const actions = [{ action: 'create', file_path: `extra-${count}.txt`, content: `${count}\n` }]
    return post(`${at}/repository/commits`, { branch, commit_message: `Extra ${count}`, actions, ...more })
  }

  function pipeline(at: string, id: number, attributes: object, more: object = {}): Promise<Json> {
    const objectAttributes = { id, status: 'success', created_at: '2026-02-03 04:00:00 UTC', ...attributes }
    const record = { object_kind: 'pipeline', object_attributes: objectAttributes, builds: [build(id)], ...more }
    return served.must('PUT', `${at}/pipeline_records/${id}`, root, record)
  }

  function build(pipelineId: number): object {
    const artifacts_file = { filename: 'all.zip', size: 100 }
    return { id: pipelineId * 100, name: 'job 0', stage: 'build', status: 'success', artifacts_file }
  }

  /**
   * Adds a pipeline per merge request, and one per commit of the first merge request. The bridges of the first and last pipeline
   * start them.
   */
  async function addMergeRequestPipelines(): Promise<void> {
    const at = `/projects/${project.id}`
    const { source_branch: branch } = await served.must('GET', `${at}/merge_requests/1`, root)
    for (let count = Math.min(size, MAX_COMMITS); count > 1; count -= 1) await commit(at, branch, count)
    const commits = await get(`${at}/repository/commits?ref_name=${branch}`)
    const commitsOfFirst = commits.slice(0, Math.min(size, MAX_COMMITS)).map((each) => ({ ref: branch, sha: each.id }))
    const requests = await get(`${at}/merge_requests?per_page=100`)
    const headsOfOthers = requests.flatMap(({ iid, source_branch: ref, sha }) => (iid === 1 ? [] : [{ ref, sha }]))
    for (const [index, attributes] of [...commitsOfFirst, ...headsOfOthers].entries()) {
      const upstream = index % 2 === 0 ? 1_001 : 1_000 + size
      const bridge = Math.floor(index / 2) % Math.min(size, 2)
      const source_pipeline = {
        pipeline_id: upstream,
        job_id: upstream * 100 + 50 + bridge,
        project: { id: project.id },
      }
      await pipeline(at, FIRST_PIPELINE + index, attributes, { source_pipeline, user: { username: root.username } })
    }
  }
}
