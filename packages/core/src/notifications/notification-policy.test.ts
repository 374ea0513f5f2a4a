import { expect, test } from 'vitest'
import { mentionedUsernames } from './mentioned-usernames.ts'
import { type NotificationSwitch, notificationSwitches } from './notification-level.ts'
import { isNotified, type Relation } from './notification-policy.ts'

const relations: readonly Relation[] = ['mentioned', 'participating', 'none']
const selecting = (setting: Parameters<typeof isNotified>[0], relation: Relation): readonly NotificationSwitch[] =>
  notificationSwitches.filter((event) => isNotified(setting, { event, relation }))

// The numbers of the 21 events that each level selects: for users who are mentioned, who take part, and for others.
test.each([
  { level: 'disabled', counts: [0, 0, 0] },
  { level: 'mention', counts: [21, 0, 0] },
  { level: 'participating', counts: [21, 21, 0] },
  { level: 'watch', counts: [21, 21, 17] },
  { level: 'custom', counts: [21, 21, 2] },
] as const)('$level', ({ level, counts }) => {
  const setting = { level, switches: {} }
  expect(relations.map((relation) => selecting(setting, relation).length)).toEqual(counts)
})

test('watch leaves out four events, and custom has the chosen ones', () => {
  const watched = new Set(selecting({ level: 'watch', switches: {} }, 'none'))
  expect(notificationSwitches.filter((event) => !watched.has(event))).toEqual([
    'issueDue',
    'pushToMergeRequest',
    'successPipeline',
    'approver',
  ])
  const switches = { newNote: true, failedPipeline: false, newIssue: false }
  expect(selecting({ level: 'custom', switches }, 'none')).toEqual(['newNote', 'fixedPipeline'])
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
