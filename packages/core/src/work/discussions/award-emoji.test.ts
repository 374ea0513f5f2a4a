import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { removeUser } from '../../identity/accounts/user-operations.ts'
import { createIssue, getProjectIssue, listProjectIssues, updateIssue } from '../issues/issue-operations.ts'
import { listProjectMergeRequests } from '../merge-requests/merge-request-operations.ts'
import { issueAwards, issueNoteAwards, mergeRequestAwards } from './award-emoji-operations.ts'
import { issueNotes } from './note-operations.ts'

let world: World
let root: User
let mira: User
let noor: User
let project: Project
const failure = (error: DomainError) => error.failure
const noSuch = (why = '') => ({ code: 'not_found', what: `Award Emoji${why}` })

beforeEach(async () => {
  world = await World.open()
  root = await world.user('root', { isAdministrator: true })
  mira = await world.user('mira')
  noor = await world.user('noor')
  project = await world.project('tools', await world.group('ops', { visibility: 'public' }), 'public')
  await world.member(project, mira, accessLevels.developer)
  for (const title of ['Leak', 'Seeds', 'Soil']) await world.perform(mira, createIssue, { project: project.id, title })
})
afterEach(() => world.close())

const onIssue = (issueIid = 1) => ({ project: project.id, issueIid })
const react = (name: string, actor = mira, issueIid = 1) =>
  world.perform(actor, issueAwards.create, { ...onIssue(issueIid), name })
const votes = async () => {
  const { upvotes, downvotes } = await world.perform(mira, getProjectIssue, onIssue())
  return [upvotes, downvotes]
}

test('each user reacts once with an emoji, under any of its names, and votes are counted', async () => {
  expect(await react('+1')).toMatchObject({ name: 'thumbsup', user: { id: mira.id }, awardableType: 'issue' })
  expect(await react('thumbsup').catch(failure)).toEqual(noSuch(' Name has already been taken'))
  expect(await react('not_an_emoji').catch(failure)).toEqual(noSuch(' Name is not a valid emoji name'))
  const second = await react(':thumbsup:', noor)
  await react('thumbsdown', noor)
  await react('tada')
  expect(await votes()).toEqual([2, 1])
  const { items } = await world.perform(undefined, issueAwards.list, onIssue())
  expect(items.map(({ name, user }) => [name, user?.username])).toEqual([
    ['thumbsup', 'mira'],
    ['thumbsup', 'noor'],
    ['thumbsdown', 'noor'],
    ['tada', 'mira'],
  ])
  const one = { ...onIssue(), awardId: second.id }
  expect(await world.perform(mira, issueAwards.remove, one).catch(failure)).toEqual({ code: 'unauthenticated' })
  await world.perform(noor, issueAwards.remove, one)
  expect(await world.perform(noor, issueAwards.get, one).catch(failure)).toEqual({ code: 'not_found' })
  expect(await votes()).toEqual([1, 1])
  await world.perform(root, removeUser, { user: noor.id })
  expect(await votes()).toEqual([1, 1])
})

test('a locked or confidential issue takes no reactions of strangers, and a note of the service none at all', async () => {
  const { id: noteId } = await world.perform(noor, issueNotes.create, { ...onIssue(), body: 'Look' })
  const award = await world.perform(mira, issueNoteAwards.create, { ...onIssue(), noteId, name: 'eyes' })
  expect(award).toMatchObject({ awardableType: 'note', noteId })
  await world.perform(mira, updateIssue, { ...onIssue(), discussionLocked: true, labels: ['bug'] })
  expect(await react('tada', noor).catch(failure)).toEqual(noSuch())
  const { items } = await world.perform(mira, issueNotes.list, { ...onIssue(), activityFilter: 'only_activity' })
  const onService = { ...onIssue(), noteId: items[0]!.id, name: 'eyes' }
  expect(await world.perform(mira, issueNoteAwards.create, onService).catch(failure)).toEqual(noSuch())
  await world.perform(mira, updateIssue, { ...onIssue(), confidential: true })
  expect(await world.perform(noor, issueAwards.list, onIssue()).catch(failure)).toEqual({ code: 'not_found' })
})

test("lists are filtered by the caller's reactions, and ordered by upvotes", async () => {
  await react('star', mira, 1)
  await react('+1', noor, 2)
  const list = async (filter: object, actor: User | undefined) => {
    const { items } = await world.perform(actor, listProjectIssues, { project: project.id, sort: 'asc', ...filter })
    return items.map(({ iid }) => iid)
  }
  expect(await list({ myReactionEmoji: 'star' }, mira)).toEqual([1])
  expect(await list({ myReactionEmoji: 'Any' }, mira)).toEqual([1])
  expect(await list({ myReactionEmoji: 'None' }, mira)).toEqual([2, 3])
  expect(await list({ not: { myReactionEmoji: 'star' } }, mira)).toEqual([2, 3])
  expect(await list({ myReactionEmoji: '+1' }, noor)).toEqual([2])
  expect(await list({ myReactionEmoji: 'star' }, undefined)).toEqual([])
  expect(await list({ orderBy: 'popularity', sort: 'desc' }, mira)).toEqual([2, 3, 1])

  await world.mergeRequest(mira, { project: project.id, title: 'Fix', sourceBranch: 'fix', targetBranch: 'main' })
  await world.perform(mira, mergeRequestAwards.create, { project: project.id, mergeRequestIid: 1, name: 'rocket' })
  const found = await world.perform(mira, listProjectMergeRequests, { project: project.id, myReactionEmoji: 'rocket' })
  expect(found.items.map(({ iid }) => iid)).toEqual([1])
})
