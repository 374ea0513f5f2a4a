import { World } from '@penstock/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Listing } from '../../base/kit/listing.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { projectLabels } from '../labels/label-operations.ts'
import { mergeRequestListing } from '../merge-requests/merge-request-list-store.ts'
import { updateMergeRequest } from '../merge-requests/merge-request-operations.ts'
import { projectMilestones } from '../milestones/milestone-operations.ts'
import type { Issuable } from './issuable.ts'
import { issueListing } from './issue-list-store.ts'
import { createIssue, updateIssue } from './issue-operations.ts'

let world: World
let mira: User
let tools: Project

/**
 * Creates A to E: A has a milestone due late, B and C have one due soon; B is labelled urgent, and closed at the end.
 */
beforeAll(async () => {
  world = await World.open()
  mira = await world.user('mira')
  tools = await world.project('tools', mira)
  const project = tools.id
  const milestone = async (title: string, dueDate: string) =>
    (await world.perform(mira, projectMilestones.create, { parent: project, title, dueDate })).id
  const late = await milestone('Late', '2026-09-01')
  const soon = await milestone('Soon', '2026-03-01')
  await world.perform(mira, projectLabels.create, { parent: project, name: 'urgent', color: '#f00', priority: 1 })
  for (const draft of [
    { title: 'A', milestoneId: late },
    { title: 'B', milestoneId: soon, labels: ['urgent'] },
    { title: 'C', milestoneId: soon },
    { title: 'D' },
    { title: 'E' },
  ]) {
    await world.clock.advance(1_000)
    await world.perform(mira, createIssue, { project, ...draft })
    const branches = { sourceBranch: draft.title, targetBranch: 'main' }
    await world.mergeRequest(mira, { project, ...branches, ...draft })
  }
  await world.clock.advance(1_000)
  await world.perform(mira, updateIssue, { project, issueIid: 2, stateEvent: 'close' })
  await world.perform(mira, updateMergeRequest, { project, mergeRequestIid: 2, stateEvent: 'close' })
})
afterAll(() => world.close())

const orders = [
  ['created_at', 'A B C D E', 'E D C B A'],
  ['updated_at', 'A C D E B', 'B E D C A'],
  ['title', 'A B C D E', 'E D C B A'],
  ['closed_at', 'B A C D E', 'B E D C A'],
  ['label_priority', 'B E D C A', 'E D C A B'],
  ['milestone_due', 'C B A E D', 'A C B E D'],
  ['priority', 'B C A E D', 'A C B E D'],
  ['popularity', 'E D C B A', 'E D C B A'],
] as const
type Order = { readonly orderBy: (typeof orders)[number][0]; readonly sort: 'asc' | 'desc' }

const context = () => ({ db: world.core.db.read, nowMs: world.clock.nowMs() })
const kinds: readonly [string, (order: Order) => Listing<Issuable>][] = [
  ['issues', (order) => issueListing(context(), mira, [order])],
  ['merge requests', (order) => mergeRequestListing(context(), mira, [order])],
]

/** Returns all titles, read in pages of two from the front and from the back. */
async function readAllPages(listing: Listing<Issuable>): Promise<{ forward: string; backward: string }> {
  const [forward, backward]: string[][] = [[], []]
  let [after, before]: (string | undefined)[] = []
  for (let page = 0; page < 3; page += 1) {
    const [first] = await listing.pages({ first: 2, after })
    const [last] = await listing.pages({ last: 2, before })
    forward!.push(...first!.items.map(({ title }) => title))
    backward!.unshift(...last!.items.map(({ title }) => title))
    after = first!.cursors.at(-1)
    before = last!.cursors[0]
  }
  return { forward: forward!.join(' '), backward: backward!.join(' ') }
}

describe.each(kinds)('%s', (_, listed) => {
  test.each(orders)(
    'are ordered by %s ascending as %s, and descending as %s',
    async (orderBy, ascending, descending) => {
      const both = { asc: ascending, desc: descending }
      for (const sort of ['asc', 'desc'] as const) {
        const expected = both[sort]
        expect(await readAllPages(listed({ orderBy, sort }))).toEqual({ forward: expected, backward: expected })
      }
    },
  )
})
