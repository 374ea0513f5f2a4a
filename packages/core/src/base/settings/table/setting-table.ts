import type { Visibility } from '../../model/access-level.ts'
import rows from './application-settings.json' with { type: 'json' }
import { readSetting, type SettingRow } from './read-setting.ts'
import type { Setting } from './setting.ts'
import type { structures } from './setting-code.ts'

type Rows = typeof rows
type Structures = typeof structures

export type SettingName = keyof Rows

type ValueIn<Row> = Row extends { readonly int: infer Default } | { readonly text: infer Default }
  ?
      | (Row extends { readonly int: unknown } ? number : string)
      | (null extends Default ? undefined : never)
      | NullableIn<Row>
  : Row extends { readonly flag: boolean }
    ? boolean
    : Row extends { readonly visibility: string }
      ? Visibility
      : Row extends { readonly number: number }
        ? number
        : readonly string[]
type NullableIn<Row> = Row extends { readonly optional: boolean } ? undefined : never

/** The values of all settings by name; `undefined` for one that is null. */
export type SettingValues = {
  readonly [Name in SettingName]: Name extends keyof Structures ? Structures[Name]['value'] : ValueIn<Rows[Name]>
}

/** The settings with a number as their value. */
export type NumberSetting = {
  [Name in SettingName]: SettingValues[Name] extends number ? Name : never
}[SettingName]

/** All settings in the order of the record and of error messages. */
export const settingRows: readonly (readonly [SettingName, Setting])[] = (
  Object.entries(rows) as [SettingName, SettingRow][]
).map(([name, row]) => [name, readSetting(name, row)])

/**
 * Every application setting by name: its type, default, bounds, companions and former names, and whether the service acts
 * on it. docs/reference/settings.md is generated from it.
 */
export const settingTable = Object.fromEntries(settingRows) as Readonly<Record<SettingName, Setting>>
