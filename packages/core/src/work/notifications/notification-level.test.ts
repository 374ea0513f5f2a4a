import fc from 'fast-check'
import { expect, test } from 'vitest'
import { effectiveSetting, isSelected, notificationLevels, notificationSwitches } from './notification-level.ts'

test('has the 21 events in the order of responses', () => {
  expect(notificationSwitches).toHaveLength(21)
  expect([notificationSwitches[0], notificationSwitches[12], notificationSwitches[20]]).toEqual([
    'newRelease',
    'changeReviewerMergeRequest',
    'newEpic',
  ])
})

const watch = { level: 'watch', switches: {} } as const
const global = { level: 'global', switches: { newNote: true } } as const
const custom = { level: 'custom', switches: { newIssue: true } } as const

test.each([
  { settings: [undefined, undefined, undefined], level: 'participating' },
  { settings: [global, undefined, global], level: 'participating' },
  { settings: [watch, custom, undefined], level: 'watch' },
  { settings: [undefined, custom, watch], level: 'custom' },
  { settings: [global, undefined, watch], level: 'watch' },
])('the nearest setting that a user has made counts: $level', ({ settings, level }) => {
  expect(effectiveSetting(settings).level).toBe(level)
})

test('the setting in force is one of the given ones, and never refers to another', () => {
  const settings = fc.array(
    fc.option(fc.record({ level: fc.constantFrom(...notificationLevels), switches: fc.constant({}) }), {
      nil: undefined,
    }),
  )
  fc.assert(
    fc.property(settings, (all) => {
      const { level } = effectiveSetting(all)
      expect(level).not.toBe('global')
      const made = all.filter((setting) => setting !== undefined && setting.level !== 'global')
      expect(level).toBe(made[0]?.level ?? 'participating')
    }),
  )
})

test('an event that was never set is selected only if a pipeline failed or was fixed', () => {
  const selected = notificationSwitches.filter((event) => isSelected({}, event))
  expect(selected).toEqual(['failedPipeline', 'fixedPipeline'])
  expect(isSelected({ failedPipeline: false }, 'failedPipeline')).toBe(false)
  expect(isSelected({ newNote: true }, 'newNote')).toBe(true)
})
