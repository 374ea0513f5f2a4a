import { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { accessLevels } from '../access/access-level.ts'
import type { Listed } from '../kit/listing.ts'
import type { BatchQuery, InputSchema } from '../kit/operation.ts'
import { performBatch } from '../kit/perform.ts'
import {
  descriptionsOfEachMergeRequest,
  findEachMergeRequest,
  listMergeRequestsOfEachProject,
} from '../merge-requests/merge-request-listings.ts'
import { createMergeRequest } from '../merge-requests/merge-request-operations.ts'
import type { Project } from '../projects/project.ts'
import type { User } from '../users/user.ts'
import type { GivenDescription } from './description-store.ts'
import type { Issuable } from './issuable.ts'
import { descriptionsOfEachIssue, findEachIssue, listIssuesOfEachProject } from './issue-listings.ts'
import { createIssue } from './issue-operations.ts'

let world: World
let mira: User
let tools: Project
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

describe.each([
  {
    kind: 'issues',
    create: (description?: string): Promise<Issuable> =>
      world.perform(mira, createIssue, { project: tools.id, title: 'A', description }),
    list: listIssuesOfEachProject as Query<Project, Listed<Issuable>>,
    find: findEachIssue as Query<number, Issuable>,
    descriptions: descriptionsOfEachIssue as Query<never, GivenDescription>,
  },
  {
    kind: 'merge requests',
    create: (description?: string): Promise<Issuable> => {
      const draft = { title: 'A', sourceBranch: `${branches++}`, targetBranch: 'main', description }
      return world.perform(mira, createMergeRequest, { project: tools.id, ...draft })
    },
    list: listMergeRequestsOfEachProject as Query<Project, Listed<Issuable>>,
    find: findEachMergeRequest as Query<number, Issuable>,
    descriptions: descriptionsOfEachMergeRequest as Query<never, GivenDescription>,
  },
])('descriptions of $kind', ({ create, list, find, descriptions }) => {
  const given = (of: readonly Pick<Issuable, 'id'>[], mostBytes: number) =>
    ask(descriptions, of as never[], { mostBytes })
  const texts = async (...asked: Parameters<typeof given>) =>
    (await given(...asked)).map((each) => each && (each.description ?? 'none'))

  test('the first ones, as long as there is room for them', async () => {
    const [six, none, seven, two] = [await create('sechs!'), await create(), await create('sieben!'), await create('ü')]
    const all = [six, none, seven, two]
    expect(await texts(all, 15)).toEqual(['sechs!', 'none', 'sieben!', 'ü'])
    expect(await texts(all, 14)).toEqual(['sechs!', 'none', 'sieben!', undefined])
    expect(await texts(all, 12)).toEqual(['sechs!', 'none', undefined, undefined])
    expect(await texts(all.toReversed(), 12)).toEqual(['ü', 'sieben!', 'none', undefined])
    expect(await texts([none, six], 0)).toEqual(['none', undefined])
    expect(await given([two, none], 2)).toEqual([
      { description: 'ü', bytes: 2 },
      { description: undefined, bytes: 0 },
    ])
  })

  test('what is asked for twice counts twice; what is gone meanwhile has none', async () => {
    const one = await create('one')
    expect(await texts([one, one, { id: 999 }], 6)).toEqual(['one', 'one', 'none'])
    expect(await texts([one, one], 5)).toEqual(['one', undefined])
  })

  test('of more than one statement takes, one limit for all', async () => {
    const one = await create('one')
    const found = await texts(Array(2_500).fill(one), 3 * 1_700)
    expect(found).toHaveLength(2_500)
    expect([found.lastIndexOf('one'), found.indexOf(undefined)]).toEqual([1_699, 1_700])
  })

  test('lists for many parents do not read them', async () => {
    const { id } = await create('what it says')
    const read: object[] = []
    const db = world.core.db.read.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        read.push(...result.rows)
        return result
      },
    })
    Object.assign(world.core, { db: { ...world.core.db, read: db } })
    const [listed] = await ask(list, [tools])
    const [page] = await listed!.listing.pages({ first: 10 })
    const [found] = await ask(find, [id])
    expect([page!.items[0], found]).toMatchObject([{ title: 'A' }, { title: 'A' }])
    expect(JSON.stringify(read)).not.toContain('what it says')
    expect(await texts([found!], 100)).toEqual(['what it says'])
    expect(JSON.stringify(read)).toContain('what it says')
  })
})

let branches = 0
