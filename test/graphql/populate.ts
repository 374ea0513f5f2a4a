import { type AccessLevel, groupWikis, projectWikis, type User, type Visibility } from '@penstock/core'
import { extendWorld } from './extended-world.ts'
import { Dice } from './random.ts'
import type { Json, ServedWorld } from './served-world.ts'

export const roles = {
  guest: 10,
  planner: 15,
  reporter: 20,
  developer: 30,
  maintainer: 40,
  owner: 50,
} as const satisfies Record<string, AccessLevel>
export type Role = keyof typeof roles

export interface Plan {
  readonly seed: number
  /** The maximum number of issues, merge requests, pipelines etc. of each project, or the exact number if `exact`. */
  readonly size: number
  readonly exact?: boolean
}

export interface Place {
  readonly id: number
  readonly path: string
  readonly visibility: Visibility
}

/** The objects that `populate` has created, with the values that REST returned. */
export interface Population {
  readonly people: Readonly<Record<Role | 'administrator' | 'stranger', User>>
  readonly groups: readonly Place[]
  readonly projects: readonly Place[]
}

const visibilities: readonly Visibility[] = ['public', 'private', 'internal']
const statuses = ['success', 'failed', 'running', 'canceled', 'skipped', 'pending', 'created', 'manual']
const NEXT_MINUTE_MS = 60_000
/** The limit of snippets of each project: each has a repository, which takes time. */
const MAX_SNIPPETS = 6

/**
 * Creates a group with a subgroup, projects of each visibility in both, users of every role and objects of every kind. An
 * administrator creates them over REST.
 */
export async function populate(served: ServedWorld, plan: Plan): Promise<Population> {
  const { world } = served
  const dice = new Dice(plan.seed)
  /** Returns true with a probability, but always false in an exact world, in which all rows are alike. */
  const sometimes = (probability: number) => !plan.exact && dice.is(probability)
  const statusOf = () => (plan.exact ? 'success' : dice.pick(statuses))
  const stageOf = (number: number) => (plan.exact ? `stage ${number % 5}` : dice.pick(['build', 'test']))
  const randomCount = () => (plan.exact ? plan.size : dice.upTo(plan.size))
  const root = await world.user('root', { isAdministrator: true })
  const post = (path: string, body: object) => served.must('POST', path, root, body)

  const ops = await post('/groups', { name: 'Ops', path: 'ops', visibility: 'public' })
  const inner = await post('/groups', { name: 'Inner', path: 'inner', parent_id: ops.id, visibility: 'private' })
  const people = { administrator: root, stranger: await world.user('stranger') } as Record<string, User>
  for (const [role, level] of Object.entries(roles)) {
    people[role] = await world.user(role)
    await post(`/groups/${ops.id}/members`, { user_id: people[role].id, access_level: level })
  }
  const everyone = Object.values(people)
  const authors = [root, people.developer!, people.maintainer!, people.owner!]

  const projects: Place[] = []
  for (const [index, visibility] of visibilities.entries()) {
    const parent = visibility === 'private' ? inner : ops
    const project = await post('/projects', {
      name: `P ${visibility}`,
      path: visibility,
      namespace_id: parent.id,
      visibility,
    })
    projects.push({ id: project.id, path: project.path_with_namespace, visibility })
    await fill(`/projects/${project.id}`, index)
  }
  for (const group of [ops, inner]) await labelsAndMilestones(`/groups/${group.id}`)
  for (const { id } of [ops, inner]) await wikiPages(groupWikis, id)
  for (const { id } of projects) await wikiPages(projectWikis, id)
  if (plan.exact) await extendWorld({ served, root, group: ops, project: projects[0]!, size: plan.size })

  return {
    people: people as Population['people'],
    groups: [ops, inner].map((group: Json) => ({ id: group.id, path: group.full_path, visibility: group.visibility })),
    projects,
  }

  async function labelsAndMilestones(at: string): Promise<{ labels: string[]; milestones: number[] }> {
    const labels: string[] = []
    const milestones: number[] = []
    for (let count = randomCount(); count > 0; count -= 1) {
      const label = await post(`${at}/labels`, {
        name: `label ${count} of ${at}`,
        color: dice.pick(['#ff0000', '#00ff00']),
      })
      labels.push(label.name)
      const due = plan.exact || dice.is(0.5) ? { due_date: `2026-0${1 + dice.upTo(8)}-15` } : {}
      const milestone = await post(`${at}/milestones`, {
        title: `milestone ${count} of ${at}`,
        description: 'Words',
        ...due,
      })
      milestones.push(milestone.id)
      if (sometimes(0.3)) await served.must('PUT', `${at}/milestones/${milestone.id}`, root, { state_event: 'close' })
    }
    return { labels, milestones }
  }

  async function wikiPages({ create }: typeof groupWikis, parent: number): Promise<void> {
    for (let count = Math.min(randomCount(), 3); count > 0; count -= 1)
      await world.perform(root, create, { parent, title: `part/page ${count}`, content: `Words about ${count}` })
  }

  async function addSnippets(at: string): Promise<void> {
    for (let count = Math.min(randomCount(), MAX_SNIPPETS); count > 0; count -= 1) {
      const author = plan.exact ? authors[(count - 1) % authors.length]! : dice.pick(authors)
      await served.must('POST', `${at}/snippets`, author, {
        title: `Snippet ${count}`,
        visibility: plan.exact ? 'public' : dice.pick(visibilities),
        files: [{ file_path: `${count}.md`, content: '# Words\n' }],
      })
    }
  }

  async function fill(at: string, index: number): Promise<void> {
    const { labels, milestones } = await labelsAndMilestones(at)
    const attributesOf = (count: number) => ({
      labels: plan.exact ? labels.slice(0, 2) : dice.some(labels, 0.4),
      ...(milestones.length > 0 && (plan.exact || dice.is(0.5)) && { milestone_id: dice.pick(milestones) }),
      assignee_ids: plan.exact
        ? [authors[(plan.size - count) % authors.length]!.id]
        : dice
            .some(everyone, 0.2)
            .slice(0, 1)
            .map(({ id }) => id),
    })
    await post(`${at}/repository/commits`, {
      branch: 'main',
      commit_message: 'Begin',
      actions: [
        { action: 'create', file_path: 'README.md', content: '# Read me\n' },
        { action: 'create', file_path: 'src/main.txt', content: 'one\ntwo\n' },
      ],
    })
    await addSnippets(at)
    await pause()
    for (let count = randomCount(); count > 0; count -= 1) {
      const author = plan.exact
        ? authors[(count - 1) % authors.length]!
        : dice.pick(everyone.filter(({ username }) => username !== 'stranger'))
      const issue = await served.must('POST', `${at}/issues`, author, {
        title: `Issue ${dice.pick(['Zebra', 'apple', 'Ärger'])} ${count}`,
        description: 'Words about it',
        confidential: sometimes(0.3),
        ...attributesOf(count),
      })
      if (sometimes(0.4)) await served.must('PUT', `${at}/issues/${issue.iid}`, root, { state_event: 'close' })
      await pause()
    }
    for (let count = randomCount(); count > 0; count -= 1) {
      const branch = `work-${count}`
      await post(`${at}/repository/commits`, {
        ...{ branch, start_branch: 'main', commit_message: `Work ${count}` },
        actions: [{ action: 'create', file_path: `work-${count}.txt`, content: `${count}\n` }],
      })
      const author = plan.exact ? authors[(count - 1) % authors.length]! : root
      const request = await served.must('POST', `${at}/merge_requests`, author, {
        ...{ source_branch: branch, target_branch: 'main', title: `Take in ${branch}` },
        ...attributesOf(count),
        reviewer_ids: (plan.exact ? everyone.slice(0, plan.size) : dice.some(everyone, 0.2)).map(({ id }) => id),
      })
      if (sometimes(0.3))
        await served.must('PUT', `${at}/merge_requests/${request.iid}`, root, { state_event: 'close' })
      await pause()
    }
    const [head] = await served.must('GET', `${at}/repository/commits`, root)
    for (let count = randomCount(); count > 0; count -= 1) {
      const id = 1_000 * (index + 1) + count
      await served.must('PUT', `${at}/pipeline_records/${id}`, root, record(id, head.id))
      await pause()
    }
    for (let count = randomCount(); count > 0; count -= 1) {
      await post(`${at}/variables`, { key: `KEY_${count}`, value: `secret value ${count}` })
    }
  }

  /** Advances the clock, except sometimes, so that some objects have equal times. */
  async function pause(): Promise<void> {
    if (plan.exact || dice.is(0.8)) await world.clock.advance(NEXT_MINUTE_MS)
  }

  function record(id: number, sha: string): object {
    const builds = Array.from({ length: plan.exact ? plan.size : 1 + randomCount() }, (_, number) => {
      const status = statusOf()
      return {
        ...{ id: id * 100 + number, name: `job ${number}`, stage: stageOf(number), status },
        ...{ created_at: '2026-02-03 04:00:00 UTC', started_at: '2026-02-03 04:01:00 UTC', when: 'on_success' },
        ...{ duration: 5.5, queued_duration: 1.5, allow_failure: sometimes(0.2), manual: status === 'manual' },
        runner: { id: 7, description: 'a runner', runner_type: 'instance_type', active: true, tags: ['linux'] },
        ...(plan.exact && { artifacts_file: { filename: 'all.zip', size: 100 } }),
      }
    })
    return {
      object_kind: 'pipeline',
      object_attributes: {
        ...{ id, iid: id % 1_000, ref: 'main', tag: false, sha, source: 'push', status: statusOf() },
        ...{ stages: ['build', 'test'], created_at: '2026-02-03 04:00:00 UTC', duration: 60, queued_duration: 3 },
      },
      builds,
      ...(plan.exact && { bridges: bridgesOf(id), user: { username: 'root' } }),
    }
  }

  function bridgesOf(id: number): object[] {
    return Array.from({ length: Math.min(plan.size, 2) }, (_, number) => {
      return { id: id * 100 + 50 + number, name: `bridge ${number}`, stage: 'test', status: 'success' }
    })
  }
}
