import {
  type AccessLevel,
  accessLevels,
  announceDueIssues,
  approveMergeRequest,
  blockUser,
  createCommit,
  createIssue,
  createMergeRequest,
  createRelease,
  type Group,
  groupMembers,
  groupNotificationSettings,
  type InputSchema,
  issueNotes,
  issueTracking,
  mergeMergeRequest,
  mergeRequestNotes,
  mergeRequestTracking,
  type NotificationSwitch,
  notificationSwitches,
  type Operation,
  type Project,
  perform,
  projectNotificationSettings,
  putPipelineRecord,
  transferProject,
  type User,
  unapproveMergeRequest,
  updateIssue,
  updateMergeRequest,
  updateNotificationSetting,
} from '@penstock/core'
import { recordInput } from '@penstock/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MailedWorld } from './mailed-world.harness.ts'

/**
 * The people of the tables below, in the order of the columns. All are developers of the project, except the guest and those who
 * have left. The actor and everyone from `blocked` on have the level `watch`.
 */
const columns = [
  'disabled',
  'participating',
  'mention',
  'watch',
  // The level custom, with the switch of the event alone, and with all other switches.
  'chosen',
  'others',
  // The level global in the project, and watch in its group.
  'inherits',
  // People who take part, all with the level participating.
  'author',
  'assignee',
  'reviewer',
  // Takes part with the level disabled.
  'silent',
  // Mentioned in the new text, with the level mention.
  'mentioned',
  'actor',
  'blocked',
  'left',
  'unsubscribed',
  'guest',
  'stranger',
] as const
type Person = (typeof columns)[number]

let mailed: MailedWorld
let group: Group
let project: Project
let people: Record<Person, User>
let root: User

type Run = <Result>(actor: User, operation: Operation<InputSchema, Result>, input: object) => Promise<Result>
const run: Run = (actor, operation, input) => perform(mailed.core, actor, operation, input)
/** Prepares without mails. */
const quietly: Run = (actor, operation, input) => perform(mailed.world.core, actor, operation, input)

beforeAll(async () => {
  mailed = await MailedWorld.open()
  const { world } = mailed
  root = await world.user('root', { isAdministrator: true })
  group = await world.group('ops')
  project = await world.project('tools', group)
  people = {} as Record<Person, User>
  for (const name of columns) people[name] = await world.user(name)
  const role = (name: Person): AccessLevel =>
    name === 'guest' ? accessLevels.guest : name === 'actor' ? accessLevels.owner : accessLevels.developer
  for (const name of columns) if (name !== 'stranger') await world.member(group, people[name], role(name))
  const setLevel = (name: Person, level: string) => quietly(people[name], updateNotificationSetting, { level })
  for (const name of ['disabled', 'mention', 'watch', 'actor', 'blocked', 'left', 'unsubscribed', 'guest'] as const) {
    await setLevel(name, columns.indexOf(name) > columns.indexOf('mentioned') ? 'watch' : name)
  }
  await setLevel('silent', 'disabled')
  await setLevel('mentioned', 'mention')
  const inGroup = { parent: group.id, level: 'watch' }
  await quietly(people.inherits, groupNotificationSettings.update, inGroup)
  await setLevel('stranger', 'watch')
  // The stranger's setting is from a time when the project was visible.
  await world.core.db.write((db) =>
    db
      .insertInto('notification_settings')
      .values({
        user_id: people.stranger.id,
        project_id: project.id,
        group_id: null,
        level: 'watch',
        switches: '{}',
        email: null,
      })
      .execute(),
  )
  await quietly(root, blockUser, { user: people.blocked.id })
  await quietly(people.actor, groupMembers.remove, { parent: group.id, userId: people.left.id })
  await commit('main')
}, 60_000)
afterAll(() => mailed?.close())

let commits = 0
async function commit(branch: string, startBranch?: string, runs = quietly) {
  commits += 1
  const actions = [{ action: 'create', filePath: `${commits}.txt`, content: 'text' }]
  const input = { project: project.id, branch, commitMessage: 'Add a file', startBranch, actions }
  return (await runs(people.actor, createCommit, input)).sha
}

const ids = (...names: Person[]) => names.map((name) => people[name].id)
const inText = { description: 'Look, @mentioned and @guest' }
const thread = { title: 'Leak', ...inText }

async function issue(more: object = {}, runs = quietly, as = people.author) {
  const assigneeIds = ids('assignee', 'silent')
  const { iid } = await runs(as, createIssue, { project: project.id, ...thread, assigneeIds, ...more })
  const at = { project: project.id, issueIid: iid }
  if (runs === quietly) await quietly(people.unsubscribed, issueTracking.unsubscribe, at)
  return at
}

async function mergeRequest(runs = quietly, as = people.author) {
  const sourceBranch = `fix-${commits}`
  const head = await commit(sourceBranch, 'main')
  const draft = {
    sourceBranch,
    targetBranch: 'main',
    assigneeIds: ids('assignee', 'silent'),
    reviewerIds: ids('reviewer'),
  }
  const { iid } = await runs(as, createMergeRequest, { project: project.id, ...thread, ...draft })
  const at = { project: project.id, mergeRequestIid: iid }
  if (runs === quietly) await quietly(people.unsubscribed, mergeRequestTracking.unsubscribe, at)
  return { at, sourceBranch, head }
}

let pipelines = 100
const pipeline = (more: object, runs = quietly) => {
  const {
    pipelineId = ++pipelines,
    user = { username: 'author' },
    ...head
  } = more as { pipelineId?: number; user?: object }
  const objectAttributes = { id: pipelineId, ref: 'main', user, ...head }
  const record = { project: project.id, pipelineId, objectAttributes, user, builds: [] }
  return runs(people.actor, putPipelineRecord, recordInput(record))
}

const act = () => people.actor
const changeIssue = async (before: object, changes: object) => {
  const at = await issue()
  if (Object.keys(before).length > 0) await quietly(people.author, updateIssue, { ...at, ...before })
  await run(act(), updateIssue, { ...at, ...changes })
}
const changeMergeRequest = async (before: object, changes: object) => {
  const { at } = await mergeRequest()
  if (Object.keys(before).length > 0) await quietly(people.author, updateMergeRequest, { ...at, ...before })
  await run(act(), updateMergeRequest, { ...at, ...changes })
}

interface Row {
  readonly what: string
  readonly event?: NotificationSwitch
  /** A letter per column: `y` for a mail. */
  readonly gets: string
  readonly happens: () => Promise<unknown>
}

// disabled part mention watch | chosen others inherits | author assignee reviewer silent | mentioned | actor blocked left refuses guest stranger
const rows: readonly Row[] = [
  {
    what: 'a new issue',
    event: 'newIssue',
    gets: '---y y-y -y-- y --- yy-',
    happens: () => issue({}, run, act()),
  },
  {
    what: 'a confidential issue',
    event: 'newIssue',
    gets: '---y y-y -y-- y --- y--',
    happens: () => issue({ confidential: true }, run, act()),
  },
  {
    what: 'a reopened issue',
    event: 'reopenIssue',
    gets: '---y y-y yy-- - --- -y-',
    happens: () => changeIssue({ stateEvent: 'close' }, { stateEvent: 'reopen' }),
  },
  {
    what: 'a closed issue',
    event: 'closeIssue',
    gets: '---y y-y yy-- - --- -y-',
    happens: () => changeIssue({}, { stateEvent: 'close' }),
  },
  {
    what: 'other assignees of an issue: the former ones get the mail too',
    event: 'reassignIssue',
    gets: '-y-y y-y yy-- - --- -y-',
    happens: () => changeIssue({}, { assigneeIds: ids('participating') }),
  },
  {
    what: 'an issue that is due tomorrow',
    event: 'issueDue',
    gets: '---- y-- yy-- - --- ---',
    happens: async () => {
      const dueDate = new Date(mailed.world.clock.nowMs() + 86_400_000).toISOString().slice(0, 10)
      await issue({ dueDate })
      await announceDueIssues(mailed.core)
      await announceDueIssues(mailed.core)
    },
  },
  {
    what: 'a comment',
    event: 'newNote',
    gets: '---y y-y yy-- y --- -y-',
    happens: async () => run(act(), issueNotes.create, { ...(await issue()), body: '@mentioned' }),
  },
  {
    what: 'an internal comment',
    event: 'newNote',
    gets: '---y y-y yy-- y --- ---',
    happens: async () =>
      run(act(), issueNotes.create, { ...(await issue()), body: '@mentioned @guest', internal: true }),
  },
  {
    what: 'a comment on a merge request',
    event: 'newNote',
    gets: '---y y-y yyy- y --- ---',
    happens: async () => run(act(), mergeRequestNotes.create, { ...(await mergeRequest()).at, body: '@mentioned' }),
  },
  {
    what: 'a new merge request',
    event: 'newMergeRequest',
    // Those who have chosen the other switches may approve it.
    gets: '---y yyy -yy- y --- y--',
    happens: () => mergeRequest(run, act()),
  },
  {
    what: 'a new merge request, for those who may approve it',
    event: 'approver',
    // The others have the switch of new merge requests.
    gets: '---y yyy -yy- y --- y--',
    happens: () => mergeRequest(run, act()),
  },
  {
    what: 'a push',
    event: 'pushToMergeRequest',
    gets: '---- y-- yyy- - --- ---',
    happens: async () => commit((await mergeRequest()).sourceBranch, undefined, run),
  },
  {
    what: 'a reopened merge request',
    event: 'reopenMergeRequest',
    gets: '---y y-y yyy- - --- ---',
    happens: () => changeMergeRequest({ stateEvent: 'close' }, { stateEvent: 'reopen' }),
  },
  {
    what: 'a closed merge request',
    event: 'closeMergeRequest',
    gets: '---y y-y yyy- - --- ---',
    happens: () => changeMergeRequest({}, { stateEvent: 'close' }),
  },
  {
    what: 'other assignees of a merge request',
    event: 'reassignMergeRequest',
    gets: '-y-y y-y yyy- - --- ---',
    happens: () => changeMergeRequest({}, { assigneeIds: ids('participating') }),
  },
  {
    what: 'other reviewers',
    event: 'changeReviewerMergeRequest',
    gets: '-y-y y-y yyy- - --- ---',
    happens: () => changeMergeRequest({}, { reviewerIds: ids('participating') }),
  },
  {
    what: 'a merge',
    event: 'mergeMergeRequest',
    gets: '---y y-y yyy- - --- ---',
    happens: async () => run(act(), mergeMergeRequest, (await mergeRequest()).at),
  },
  {
    what: 'an automatic merge',
    event: 'mergeWhenPipelineSucceeds',
    gets: '---y y-y yyy- - --- ---',
    happens: async () => {
      const { at, sourceBranch, head } = await mergeRequest()
      await pipeline({ status: 'running', ref: sourceBranch, sha: head })
      await run(act(), mergeMergeRequest, { ...at, autoMerge: true })
    },
  },
  {
    what: 'an approval, which no switch selects',
    gets: '---y --y yyy- - --- ---',
    happens: async () => run(act(), approveMergeRequest, (await mergeRequest()).at),
  },
  {
    what: 'an approval that is withdrawn',
    gets: '---y --y yyy- - --- ---',
    happens: async () => {
      const { at } = await mergeRequest()
      await quietly(act(), approveMergeRequest, at)
      await run(act(), unapproveMergeRequest, at)
    },
  },
  {
    what: 'a release',
    event: 'newRelease',
    // Guests do not see the tags of a private project.
    gets: '---y y-y ---- y --- y--',
    happens: async () =>
      run(act(), createRelease, { project: project.id, tagName: `v${++commits}`, ref: 'main', ...inText }),
  },
  {
    what: 'a failed pipeline, for the user who started it',
    event: 'failedPipeline',
    gets: '---- --- y--- - --- ---',
    happens: () => pipeline({ status: 'failed' }, run),
  },
  {
    what: 'a fixed pipeline',
    event: 'fixedPipeline',
    gets: '---- --- y--- - --- ---',
    happens: () => pipeline({ status: 'success' }, run),
  },
  {
    what: 'a pipeline that succeeds again',
    event: 'successPipeline',
    gets: '---- --- ---- - --- ---',
    happens: () => pipeline({ status: 'success' }, run),
  },
  {
    what: 'a pipeline that failed long ago',
    event: 'failedPipeline',
    gets: '---- --- ---- - --- ---',
    happens: () =>
      pipeline(
        {
          status: 'failed',
          ref: 'old',
          finishedAt: new Date(mailed.world.clock.nowMs() - 2 * 86_400_000).toISOString(),
        },
        run,
      ),
  },
  {
    what: 'a move of the project',
    event: 'movedProject',
    gets: '-y-y y-y yyy- - --- yy-',
    happens: async () => {
      const parent = await mailed.world.group('below', { parent: group })
      await run(act(), transferProject, { project: project.id, namespace: parent.id })
    },
  },
]

test.each(rows)(
  'mails about $what go to the users in its row',
  async ({ event, gets, happens }) => {
    const switchesOf = (isChosen: boolean) =>
      Object.fromEntries(notificationSwitches.map((name) => [name, (name === event) === isChosen]))
    for (const [name, isChosen] of [
      ['chosen', true],
      ['others', false],
    ] as const) {
      // Without a switch of its own, the event is selected by none.
      const all = event === undefined ? Object.fromEntries(notificationSwitches.map((each) => [each, true])) : {}
      const input = { parent: project.id, level: 'custom', ...switchesOf(isChosen), ...all }
      await quietly(people[name], projectNotificationSettings.update, input)
    }
    await happens()
    const letters = gets.replaceAll(' ', '')
    expect(letters).toHaveLength(columns.length)
    const expected = columns.filter((_, index) => letters[index] === 'y')
    expect(await mailed.mailed()).toEqual(expected.toSorted())
  },
  60_000,
)

test('every switch but new_epic has a row', () => {
  const tested = new Set(rows.map(({ event }) => event))
  expect(notificationSwitches.filter((name) => !tested.has(name))).toEqual(['newEpic'])
})

test.each([
  ['disabled', {}, '---'],
  ['mention', {}, '---'],
  ['participating', {}, 'yy-'],
  ['watch', {}, 'yy-'],
  ['custom', {}, 'yy-'],
  ['custom', { failedPipeline: false, successPipeline: true }, '-yy'],
] as const)(
  'a pipeline that fails, is fixed and succeeds, for its user with %s %j',
  async (level, switches, gets) => {
    await quietly(people.author, projectNotificationSettings.update, {
      ...{ parent: project.id, level, failedPipeline: null, successPipeline: null },
      ...switches,
    })
    const outcomes: string[] = []
    for (const status of ['failed', 'success', 'success']) {
      await pipeline({ status }, run)
      outcomes.push((await mailed.mailed()).join() === 'author' ? 'y' : '-')
    }
    expect(outcomes.join('')).toBe(gets)
  },
  60_000,
)
