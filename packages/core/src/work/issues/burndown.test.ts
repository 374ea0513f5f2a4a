import { expect, test } from 'vitest'
import { type BurndownIssue, burndownEvents } from './burndown.ts'

const march = { startDate: '2026-03-01', dueDate: '2026-03-31' }
const at = (text: string) => Date.parse(`2026-${text}Z`)
const later = at('06-01T00:00')

const issue = (created: string, events: [string, 'closed' | 'reopened'][] = [], isClosed = false): BurndownIssue => ({
  createdAtMs: at(created),
  weight: undefined,
  isClosed,
  events: events.map(([when, action]) => ({ atMs: at(when), action })),
})

const eventsOf = (issues: BurndownIssue[], nowMs = later) =>
  burndownEvents(march, issues, nowMs).map(
    ({ atMs, action }) => `${new Date(atMs).toISOString().slice(5, 16)} ${action}`,
  )

test('groups events by issue in chronological order, and drops repeated actions', () => {
  const first = issue('03-02T08:00', [
    ['03-09T16:00', 'closed'],
    ['03-10T16:00', 'closed'],
    ['03-11T16:00', 'reopened'],
  ])
  expect(eventsOf([first, issue('03-01T00:00')])).toEqual([
    '03-02T08:00 created',
    '03-09T16:00 closed',
    '03-11T16:00 reopened',
    '03-01T00:00 created',
  ])
})

test('ends at the end of the due date, or now', () => {
  const issues = [
    issue('03-31T23:59', [['04-01T00:00', 'closed']]),
    issue('04-01T00:00'),
    issue('03-02T00:00', [['03-20T00:00', 'closed']]),
  ]
  expect(eventsOf(issues)).toEqual(['03-31T23:59 created', '03-02T00:00 created', '03-20T00:00 closed'])
  expect(eventsOf(issues, at('03-19T00:00'))).toEqual(['03-02T00:00 created'])
})

test('treats a closed issue without a close event as closed at the start of the milestone', () => {
  expect(eventsOf([issue('02-01T08:00', [], true)])).toEqual(['02-01T08:00 created', '03-01T00:00 closed'])
})

test('includes the weight of an issue', () => {
  const weighted = { ...issue('03-02T08:00'), weight: 3 }
  expect(burndownEvents(march, [weighted], later)).toEqual([{ atMs: at('03-02T08:00'), weight: 3, action: 'created' }])
})
