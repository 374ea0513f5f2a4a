import { expect, test } from 'vitest'
import rows from './application-settings.json' with { type: 'json' }
import { codedRules, codedValues, structures } from './setting-code.ts'
import { settingRows, settingTable } from './setting-table.ts'

test('code about settings names settings of the table', () => {
  const named = [codedRules, codedValues, structures].flatMap((each) => Object.keys(each))
  expect(named.filter((name) => !(name in settingTable))).toEqual([])
})

test('every default is allowed by the rules of its setting', () => {
  const broken = settingRows.flatMap(([name, { details }]) =>
    details.fallback === undefined
      ? []
      : details.rules.filter((rule) => rule(details.fallback as never)).map(() => name),
  )
  expect(broken).toEqual([])
})

test('companions are settings of the table', () => {
  expect(
    settingRows.flatMap(([, { companions = [] }]) => companions.filter((each) => !(each in settingTable))),
  ).toEqual([])
})

test('only the data make a setting secret', () => {
  const secrets = settingRows.filter(([, { secret }]) => secret !== undefined).map(([name]) => name)
  const marked = Object.entries(rows).filter(([, row]) => 'secret' in row)
  expect(secrets).toEqual(marked.map(([name]) => name))
  expect(secrets.length).toBeLessThan(settingRows.length / 4)
})
