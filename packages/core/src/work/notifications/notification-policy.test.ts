import { expect, test } from 'vitest'
import { mentionedUsernames } from './mentioned-usernames.ts'
import { notificationSwitches } from './notification-level.ts'
import {
  isNotified,
  isNotifiedAsApprover,
  type NotificationEvent,
  type Relation,
  recipientRules,
} from './notification-policy.ts'

const events = Object.keys(recipientRules) as NotificationEvent[]
const relations: readonly Relation[] = ['mentioned', 'participating', 'none']
const selecting = (setting: Parameters<typeof isNotified>[0], relation: Relation): readonly NotificationEvent[] =>
  events.filter((event) => isNotified(setting, { event, relation }))

test('every switch but new_epic selects an event', () => {
  const switches = Object.values(recipientRules).flatMap((rule) =>
    [rule.switch ?? [], rule.approverSwitch ?? []].flat(),
  )
  expect(switches.sort()).toEqual(notificationSwitches.filter((name) => name !== 'newEpic').toSorted())
})

// The numbers of the 21 events that each level selects: for users who are mentioned, who take part, and for others.
test.each([
  { level: 'disabled', counts: [0, 0, 0] },
  { level: 'mention', counts: [21, 0, 0] },
  { level: 'participating', counts: [21, 21, 3] },
  { level: 'watch', counts: [21, 21, 18] },
  { level: 'custom', counts: [21, 21, 2] },
] as const)('the level $level selects its number of events for each relation of a user', ({ level, counts }) => {
  const setting = { level, switches: {} }
  expect(relations.map((relation) => selecting(setting, relation).length)).toEqual(counts)
})

test('watch leaves out three events, and custom has the chosen ones', () => {
  const watched = new Set(selecting({ level: 'watch', switches: {} }, 'none'))
  expect(events.filter((event) => !watched.has(event))).toEqual(['issueDue', 'pushToMergeRequest', 'successPipeline'])
  const switches = { newNote: true, failedPipeline: false, newIssue: false }
  expect(selecting({ level: 'custom', switches }, 'none')).toEqual(['newNote', 'fixedPipeline'])
  expect(isNotifiedAsApprover({ level: 'custom', switches: { approver: true } }, 'newMergeRequest')).toBe(true)
  expect(isNotifiedAsApprover({ level: 'watch', switches: { approver: true } }, 'newMergeRequest')).toBe(false)
  expect(isNotifiedAsApprover({ level: 'custom', switches: { approver: true } }, 'newIssue')).toBe(false)
})

test.each([
  ['@mira and @noor-b, please', ['mira', 'noor-b']],
  ['Thanks @Mira.', ['mira']],
  ['mail mira@example.test or see x/@noor', []],
  ['`@mira` and\n```\n@noor\n``` but @olga', ['olga']],
  ['(@mira)@noor', ['mira', 'noor']],
  ['@', []],
])('mentions in %j', (text, names) => {
  expect(mentionedUsernames(text)).toEqual(names)
})

test('at most 100 names are found, in linear time', () => {
  expect(mentionedUsernames(Array.from({ length: 1_000 }, (_, n) => `@user${n}`).join(' '))).toHaveLength(100)
  expect(mentionedUsernames(`${'`'.repeat(200_001)}@${'a.'.repeat(200_000)}`).length).toBeLessThan(2)
}, 5_000)
