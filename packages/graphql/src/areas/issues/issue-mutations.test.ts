import {
  accessLevels,
  archiveProject,
  createIssue,
  groupLabels,
  type Project,
  projectMilestones,
  type SpamSuspect,
  type SpamVerdict,
  type User,
} from '@penstock/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { GraphqlServer } from '../../http/graphql-server.harness.ts'

let server: GraphqlServer
let alice: User
let guest: User
let app: Project

beforeEach(async () => {
  server = await GraphqlServer.start()
  const { world } = server
  alice = await world.user('alice')
  guest = await world.user('gus')
  const acme = await world.group('acme')
  app = await world.project('app', acme)
  await world.member(app, alice, accessLevels.developer)
  await world.member(app, guest, accessLevels.guest)
  const root = await world.user('root', { isAdministrator: true })
  await world.perform(root, groupLabels.create, { parent: 'acme', name: 'bug', color: '#ff0000' })
})
afterEach(() => server.close())

const mutate = async (mutation: string, as: User = alice) => (await server.ask(`mutation { ${mutation} }`, { as })).body
const make = (title: string, more: object = {}, actor: User = alice) =>
  server.world.perform(actor, createIssue, { project: 'acme/app', title, ...more })

const notAvailable =
  "The resource that you are attempting to access does not exist or you don't have permission to perform this action"

test('creates and closes issues', async () => {
  await make('Old')
  const body = await mutate(`
    createIssue(input: { projectPath: "acme/app", title: "Cache misses", labels: ["bug"], dueDate: "2025-04-01" }) {
      errors
      issue { id iid state dueDate labels { nodes { title } } }
    }
    updateIssue(input: { projectPath: "acme/app", iid: "1", stateEvent: CLOSE }) { errors issue { iid state closedAt } }`)
  expect(body).toEqual({
    data: {
      createIssue: {
        errors: [],
        issue: {
          id: 'gid://svc/Issue/2',
          iid: '2',
          state: 'opened',
          dueDate: '2025-04-01',
          labels: { nodes: [{ title: 'bug' }] },
        },
      },
      updateIssue: { errors: [], issue: { iid: '1', state: 'closed', closedAt: '2026-02-03T04:05:06Z' } },
    },
  })
})

test('sets labels, milestone and assignees by ids, and clears those that are null', async () => {
  const { world } = server
  const spring = await world.perform(alice, projectMilestones.create, { parent: 'acme/app', title: 'Spring' })
  const created = await mutate(`createIssue(input: { projectPath: "acme/app", title: "A", type: ISSUE, locked: true,
    labelIds: ["gid://svc/GroupLabel/1", "gid://svc/GroupLabel/99"], milestoneId: "gid://svc/Milestone/${spring.id}",
    assigneeIds: ["gid://svc/User/${guest.id}"], clientMutationId: "x" }) { clientMutationId errors
      issue { discussionLocked labels { nodes { title } } milestone { title } assignees { nodes { username } } } }`)
  expect(created.data.createIssue).toEqual({
    clientMutationId: 'x',
    errors: [],
    issue: {
      discussionLocked: true,
      labels: { nodes: [{ title: 'bug' }] },
      milestone: { title: 'Spring' },
      assignees: { nodes: [{ username: 'gus' }] },
    },
  })
  const changed = await mutate(`updateIssue(input: { projectPath: "acme/app", iid: "1", title: "B", milestoneId: null,
    dueDate: "2026-05-06", removeLabelIds: ["1"] }) { errors issue { title dueDate milestone { id } labels { count } } }`)
  expect(changed.data.updateIssue).toEqual({
    errors: [],
    issue: { title: 'B', dueDate: '2026-05-06', milestone: null, labels: { count: 0 } },
  })
  const again =
    await mutate(`updateIssue(input: { projectPath: "acme/app", iid: "1", addLabelIds: ["gid://svc/GroupLabel/1"],
    milestoneId: "gid://svc/Milestone/${spring.id}" }) { issue { milestone { title } labels { count } } }`)
  expect(again.data.updateIssue.issue).toEqual({ milestone: { title: 'Spring' }, labels: { count: 1 } })
})

test('changes single properties', async () => {
  await make('A', { dueDate: '2026-05-06', assigneeIds: [guest.id] })
  const one = 'projectPath: "acme/app", iid: "1"'
  const people = 'errors issue { assignees { nodes { username } } }'
  const { data } = await mutate(`
    appended: issueSetAssignees(input: { ${one}, assigneeUsernames: ["ALICE", "unknown"], operationMode: APPEND }) { ${people} }
    removed: issueSetAssignees(input: { ${one}, assigneeUsernames: ["gus"], operationMode: REMOVE }) { ${people} }
    replaced: issueSetAssignees(input: { ${one}, assigneeUsernames: ["gus"] }) { ${people} }
    issueSetConfidential(input: { ${one}, confidential: true }) { errors issue { confidential } }
    set: issueSetDueDate(input: { ${one}, dueDate: "2026-07-08T10:00:00Z" }) { errors issue { dueDate } }
    cleared: issueSetDueDate(input: { ${one}, dueDate: null }) { errors issue { dueDate } }
    issueSetLocked(input: { ${one}, locked: true }) { errors issue { discussionLocked } }`)
  const are = (...usernames: string[]) => ({
    errors: [],
    issue: { assignees: { nodes: usernames.map((username) => ({ username })) } },
  })
  expect(data).toEqual({
    appended: are('alice', 'gus'),
    removed: are('alice'),
    replaced: are('gus'),
    issueSetConfidential: { errors: [], issue: { confidential: true } },
    set: { errors: [], issue: { dueDate: '2026-07-08' } },
    cleared: { errors: [], issue: { dueDate: null } },
    issueSetLocked: { errors: [], issue: { discussionLocked: true } },
  })
})

test('reports invalid input in the payload, and forbidden changes as an error', async () => {
  await make('Other')
  const stranger = await server.world.user('sue')
  const wrong = await mutate(`
    blank: createIssue(input: { projectPath: "acme/app", title: " " }) { errors issue { id } }
    both: createIssue(input: { projectPath: "acme/app", title: "A", labels: ["bug"], labelIds: [] }) { errors issue { id } }
    epic: createIssue(input: { projectPath: "acme/app", title: "A", type: EPIC }) { errors issue { id } }
    foreign: updateIssue(input: { projectPath: "acme/app", iid: "1", milestoneId: "gid://svc/Milestone/9" }) { errors issue { id } }
    mixed: updateIssue(input: { projectPath: "acme/app", iid: "1", labelIds: [], addLabelIds: [] }) { errors }`)
  expect(wrong.data).toEqual({
    blank: { errors: ["Title can't be blank"], issue: null },
    both: { errors: ['Labels, Label ids are mutually exclusive'], issue: null },
    epic: { errors: ['Issue type is not included in the list'], issue: null },
    foreign: { errors: ['Milestone id is invalid'], issue: null },
    mixed: { errors: ['Label ids, Add label ids, Remove label ids are mutually exclusive'] },
  })
  const close = 'updateIssue(input: { projectPath: "acme/app", iid: "1", stateEvent: CLOSE }) { errors }'
  for (const who of [guest, stranger]) {
    expect(await mutate(close, who)).toMatchObject({
      data: { updateIssue: null },
      errors: [{ message: notAvailable, path: ['updateIssue'] }],
    })
  }
  expect(
    (await mutate('updateIssue(input: { projectPath: "acme/app", iid: "x", title: "B" }) { errors }')).errors,
  ).toHaveLength(1)
  expect(
    await mutate(
      'updateIssue(input: { projectPath: "acme/app", iid: "1", milestoneId: "gid://svc/User/1" }) { errors }',
    ),
  ).toMatchObject({
    data: { updateIssue: null },
    errors: [{ message: 'gid://svc/User/1 is not a valid ID for Milestone.' }],
  })
})

describe('spam', () => {
  const suspects: SpamSuspect[] = []
  const setVerdict = (verdict: (suspect: SpamSuspect) => SpamVerdict) => {
    suspects.length = 0
    Object.assign(server.world.core, {
      spamCheck: async (suspect: SpamSuspect) => {
        suspects.push(suspect)
        return verdict(suspect)
      },
    })
  }
  const send = async (query: string, as: User, headers: Record<string, string> = {}) => {
    const authorization = `Bearer ${await server.tokenOf(as)}`
    const body = JSON.stringify({ query })
    return server.send({
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization, ...headers },
      body,
    })
  }
  const buy =
    '\nmutation {\n  createIssue(input: { projectPath: "acme/app", title: "Buy now" }) { errors issue { iid } }\n}'
  const captcha = (response: string, spamLogId: number) => ({
    'X-Svc-Captcha-Response': response,
    'X-Svc-Spam-Log-Id': String(spamLogId),
  })

  test('rejects spam if there is no CAPTCHA, and stores nothing', async () => {
    setVerdict(() => ({ kind: 'spam' }))
    const { body } = await send(buy, alice)
    expect(body).toEqual({
      data: { createIssue: null },
      errors: [
        {
          message: 'Request denied. Spam detected',
          locations: [{ line: 3, column: 3 }],
          path: ['createIssue'],
          extensions: { spam: true },
        },
      ],
    })
    expect(suspects).toMatchObject([
      { kind: 'issue', title: 'Buy now', isPublic: false, author: { username: 'alice' } },
    ])
    const counts = await mutate('updateIssue(input: { projectPath: "acme/app", iid: "1", title: "B" }) { errors }')
    expect(counts.errors[0].message).toBe(notAvailable)
  })

  test('accepts a solved CAPTCHA once, from the user who received it, for the text that was challenged', async () => {
    setVerdict(({ captchaResponse }) =>
      captchaResponse === 'solved' ? { kind: 'ok' } : { kind: 'captcha', siteKey: 'site-key-1' },
    )
    const challenged = (spamLogId: number) => ({
      data: { createIssue: null },
      errors: [
        {
          message: 'Request denied. Solve CAPTCHA challenge and retry',
          locations: [{ line: 3, column: 3 }],
          path: ['createIssue'],
          extensions: {
            needsCaptchaResponse: true,
            captchaSiteKey: 'site-key-1',
            spamLogId,
            needs_captcha_response: true,
            captcha_site_key: 'site-key-1',
            spam_log_id: spamLogId,
          },
        },
      ],
    })
    expect((await send(buy, alice)).body).toEqual(challenged(1))
    expect((await send(buy, guest, captcha('solved', 1))).body).toEqual(challenged(2))
    // A wrong solution does not use up the challenge.
    expect((await send(buy, alice, captcha('guessed', 1))).body).toEqual(challenged(3))
    const other = buy.replace('Buy now', 'Buy later')
    expect((await send(other, alice, captcha('solved', 1))).body).toEqual(challenged(4))
    const passed = await send(buy, alice, captcha('solved', 1))
    expect(passed.body).toEqual({ data: { createIssue: { errors: [], issue: { iid: '1' } } } })
    expect((await send(buy, alice, captcha('solved', 1))).body).toEqual(challenged(5))
    await server.world.clock.advance(86_400_000)
    expect((await send(buy, alice, captcha('solved', 5))).body).toEqual(challenged(6))
  })

  test('accepts a solution once if two requests send it at the same time', async () => {
    setVerdict(({ captchaResponse }) =>
      captchaResponse === 'solved' ? { kind: 'ok' } : { kind: 'captcha', siteKey: 'site-key-1' },
    )
    await send(buy, alice)
    const answers = await Promise.all([1, 2, 3].map(() => send(buy, alice, captcha('solved', 1))))
    expect(answers.filter(({ body }) => body.data.createIssue !== null)).toHaveLength(1)
  })

  test('checks a change for spam only if it changes the text', async () => {
    await make('A')
    setVerdict(() => ({ kind: 'spam' }))
    const unchecked = await mutate(
      'updateIssue(input: { projectPath: "acme/app", iid: "1", title: "A", stateEvent: CLOSE }) { errors }',
    )
    expect(unchecked).toEqual({ data: { updateIssue: { errors: [] } } })
    const checked = await mutate(
      'updateIssue(input: { projectPath: "acme/app", iid: "1", description: "Buy" }) { errors }',
    )
    expect(checked).toMatchObject({ data: { updateIssue: null }, errors: [{ extensions: { spam: true } }] })
    expect(suspects).toMatchObject([{ title: 'A', description: 'Buy' }])
  })

  test('does not check changes that the caller may not make', async () => {
    setVerdict(() => ({ kind: 'spam' }))
    const stranger = await server.world.user('sue')
    expect(
      (await mutate('createIssue(input: { projectPath: "acme/app", title: "A" }) { errors }', stranger)).errors,
    ).toMatchObject([{ message: notAvailable }])
    expect(suspects).toEqual([])
  })

  test('rejects a change if the project was archived during the spam check', async () => {
    await make('A')
    const root = await server.world.user('admin', { isAdministrator: true })
    Object.assign(server.world.core, {
      spamCheck: async () => {
        await server.world.perform(root, archiveProject, { project: 'acme/app' })
        return { kind: 'ok' }
      },
    })
    const { errors } = await mutate(
      'updateIssue(input: { projectPath: "acme/app", iid: "1", title: "B" }) { issue { title } }',
    )
    expect(errors).toMatchObject([{ message: notAvailable }])
    const { body } = await server.ask('{ project(fullPath: "acme/app") { issue(iid: "1") { title } } }', { as: alice })
    expect(body.data.project.issue).toEqual({ title: 'A' })
  })
})
