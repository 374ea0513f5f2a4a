import { expect, test } from 'vitest'
import { z } from 'zod'
import { flag, list, text } from './field-table.ts'
import { defaultSettings, noSettings, settingsFrom, settingsText } from './stored-settings.ts'

const fields = {
  isLoud: flag('loud').default(true),
  motto: text('motto').optional(),
  places: list('places', z.string()).default(['here']),
}

test('only values that differ from the default are stored', () => {
  expect(defaultSettings(fields)).toEqual({ isLoud: true, motto: undefined, places: ['here'] })
  expect(settingsText(fields, { isLoud: true, motto: undefined, places: ['here'] })).toBe(noSettings)
  expect(settingsText(fields, { isLoud: false, motto: 'On', places: [] })).toBe(
    '{"loud":false,"motto":"On","places":[]}',
  )
})

test('stored values replace defaults, and unknown names are ignored', () => {
  expect(settingsFrom(fields, noSettings)).toEqual({ isLoud: true, motto: undefined, places: ['here'] })
  expect(settingsFrom(fields, '{"loud":false,"removed":1}')).toEqual({
    isLoud: false,
    motto: undefined,
    places: ['here'],
  })
})
