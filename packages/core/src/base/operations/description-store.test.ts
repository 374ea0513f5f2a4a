import { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  descriptionsOfEachIssue,
  findEachIssue,
  listIssuesOfEachProject,
  listLabelsOfEachIssue,
} from '../../work/issues/issue-listings.ts'
import { createIssue, getProjectIssue, listIssues, listProjectIssues } from '../../work/issues/issue-operations.ts'
import { descriptionsOfEachLabel, findLabelOfEach, listLabelsOfEach } from '../../work/labels/label-lists.ts'
import { projectLabels } from '../../work/labels/label-operations.ts'
import {
  descriptionsOfEachMergeRequest,
  findEachMergeRequest,
  listMergeRequestsOfEachProject,
} from '../../work/merge-requests/merge-request-listings.ts'
import { getProjectMergeRequest, listProjectMergeRequests } from '../../work/merge-requests/merge-request-operations.ts'
import {
  descriptionsOfEachMilestone,
  getMilestoneById,
  listMilestonesOfEach,
} from '../../work/milestones/milestone-lists.ts'
import { projectMilestones } from '../../work/milestones/milestone-operations.ts'
import type { Listed } from '../kit/listing.ts'
import { accessLevels } from '../model/access-level.ts'
import type { Project } from '../model/project.ts'
import type { User } from '../model/user.ts'
import type { SizedDescription } from './description-store.ts'
import type { BatchQuery, InputSchema } from './operation.ts'
import { performBatch } from './perform.ts'

interface Thing {
  readonly id: number
}

let world: World
let mira: User
let tools: Project
let names = 0
beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  tools = await world.project('tools', await world.group('ops'))
  await world.member(tools, mira, accessLevels.developer)
})
afterEach(() => world.close())

type Query<Parent, Result> = BatchQuery<InputSchema, Parent, Result>
const ask = <Parent, Result>(query: Query<Parent, Result>, parents: readonly Parent[], input: object = {}) =>
  performBatch(world.core, mira, query, parents, input)
const firstOf = async <Item>([listed]: readonly (Listed<Item> | undefined)[]) =>
  (await listed!.listing.pages({ first: 10 }))[0]!.items[0]!

const createOne = {
  issue: (more: object): Promise<Thing> => world.perform(mira, createIssue, { project: tools.id, title: 'A', ...more }),
  mergeRequest: (more: object): Promise<Thing> => {
    const draft = { project: tools.id, title: 'A', sourceBranch: `${names++}`, targetBranch: 'main' }
    return world.mergeRequest(mira, { ...draft, ...more })
  },
  label: (more: object): Promise<Thing> =>
    world.perform(mira, projectLabels.create, { parent: tools.id, name: `${names++}`, color: '#fff', ...more }),
  milestone: (more: object): Promise<Thing> =>
    world.perform(mira, projectMilestones.create, { parent: tools.id, title: `${names++}`, ...more }),
}

describe.each([
  {
    kind: 'issues',
    create: createOne.issue,
    found: async ({ id }: Thing): Promise<(Thing | undefined)[]> => [
      await firstOf(await ask(listIssuesOfEachProject, [tools])),
      ...(await ask(findEachIssue, [id])),
    ],
    descriptions: descriptionsOfEachIssue as Query<never, SizedDescription | undefined>,
  },
  {
    kind: 'merge requests',
    create: createOne.mergeRequest,
    found: async ({ id }: Thing): Promise<(Thing | undefined)[]> => [
      await firstOf(await ask(listMergeRequestsOfEachProject, [tools])),
      ...(await ask(findEachMergeRequest, [id])),
    ],
    descriptions: descriptionsOfEachMergeRequest as Query<never, SizedDescription | undefined>,
  },
  {
    kind: 'labels',
    create: createOne.label,
    found: async (label: Thing): Promise<(Thing | undefined)[]> => {
      const { name: title } = label as Thing & { readonly name: string }
      const { id } = await createOne.issue({ labels: [title] })
      const [issue] = await ask(findEachIssue, [id])
      return [
        await firstOf(await ask(listLabelsOfEach, [tools])),
        await firstOf(await ask(listLabelsOfEachIssue, [issue!])),
        ...(await ask(findLabelOfEach, [tools], { title })),
      ]
    },
    descriptions: descriptionsOfEachLabel as Query<never, SizedDescription | undefined>,
  },
  {
    kind: 'milestones',
    create: createOne.milestone,
    found: async ({ id: milestoneId }: Thing): Promise<(Thing | undefined)[]> => {
      const issue = await createOne.issue({ milestoneId })
      await createOne.mergeRequest({ milestoneId })
      return [
        await firstOf(await ask(listMilestonesOfEach, [tools])),
        await world.perform(mira, getMilestoneById, { milestoneId }),
        (await ask(findEachIssue, [issue.id]))[0]!.milestone,
        (await firstOf(await ask(listMergeRequestsOfEachProject, [tools]))).milestone,
      ]
    },
    descriptions: descriptionsOfEachMilestone as Query<never, SizedDescription | undefined>,
  },
])('descriptions of $kind', ({ create, found, descriptions }) => {
  const read = (of: readonly Thing[], maxBytes: number) => ask(descriptions, of as never[], { maxBytes })
  const texts = async (of: readonly Thing[], maxBytes: number) =>
    (await read(of, maxBytes)).map((each) => each && (each.description ?? 'none'))
  const saying = (description?: string) => create({ description })

  test('returns the first descriptions that fit into the limit', async () => {
    const [six, none, seven, two] = [await saying('sechs!'), await saying(), await saying('sieben!'), await saying('ü')]
    const all = [six, none, seven, two]
    expect(await texts(all, 15)).toEqual(['sechs!', 'none', 'sieben!', 'ü'])
    expect(await texts(all, 14)).toEqual(['sechs!', 'none', 'sieben!', undefined])
    expect(await texts(all, 12)).toEqual(['sechs!', 'none', undefined, undefined])
    expect(await texts(all.toReversed(), 12)).toEqual(['ü', 'sieben!', 'none', undefined])
    expect(await texts([none, six], 0)).toEqual(['none', undefined])
    expect(await read([two, none], 2)).toEqual([
      { description: 'ü', bytes: 2 },
      { description: undefined, bytes: 0 },
    ])
  })

  test('counts a repeated id twice; a deleted thing has no description', async () => {
    const one = await saying('one')
    expect(await texts([one, one, { id: 999 }], 6)).toEqual(['one', 'one', 'none'])
    expect(await texts([one, one], 5)).toEqual(['one', undefined])
  })

  test('applies one limit across several statements', async () => {
    const one = await saying('one')
    const found = await texts(Array(2_500).fill(one), 3 * 1_700)
    expect(found).toHaveLength(2_500)
    expect([found.lastIndexOf('one'), found.indexOf(undefined)]).toEqual([1_699, 1_700])
  })

  test('queries that do not show the description do not read it', async () => {
    const one = await saying('what it says')
    const readRows: object[] = []
    const db = world.core.db.read.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        readRows.push(...result.rows)
        return result
      },
    })
    Object.assign(world.core, { db: { ...world.core.db, read: db } })
    const each = await found(one)
    expect(each.map((thing) => thing?.id)).toEqual(each.map(() => one.id))
    expect(JSON.stringify([readRows, each])).not.toContain('what it says')
    expect(await texts([each[0]!], 100)).toEqual(['what it says'])
    expect(JSON.stringify(readRows)).toContain('what it says')
  })
})

test('an issue or merge request that is shown whole includes the description of its milestone', async () => {
  const { id: milestoneId } = await createOne.milestone({ description: 'Until May' })
  const described = { description: 'A leak', milestone: { description: 'Until May' } }
  const made = [
    await createOne.issue({ description: 'A leak', milestoneId }),
    await createOne.mergeRequest({ description: 'A leak', milestoneId }),
  ]
  const project = tools.id
  const shown = [
    ...made,
    await world.perform(mira, getProjectIssue, { project, issueIid: 1 }),
    await world.perform(mira, getProjectMergeRequest, { project, mergeRequestIid: 1 }),
    ...(await world.perform(mira, listProjectIssues, { project })).items,
    ...(await world.perform(mira, listProjectIssues, { project, pagination: 'keyset' })).items,
    ...(await world.perform(mira, listIssues, {})).items,
    ...(await world.perform(mira, listProjectMergeRequests, { project })).items,
  ]
  expect(shown).toMatchObject(Array(8).fill(described))
})
