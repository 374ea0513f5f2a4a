import { id, type ObjectOf, oneOf, time } from '../kit/field-table.ts'
import { SETTINGS_ID, type SettingsTimes } from './settings-store.ts'
import type { Setting } from './table/setting.ts'
import { type SettingName, type SettingValues, settingRows, settingTable } from './table/setting-table.ts'

/** Shown instead of a secret. A client that sends it back changes nothing. */
export const MASK = '********'

const aiAvailabilities = ['default_on', 'default_off', 'never_on'] as const
type AiAvailability = (typeof aiAvailabilities)[number]

/** The former names in the record, with their settings. */
export const oldNames = settingRows.flatMap(([name, { oldNames: names = [] }]) =>
  names.map((old) => [old, name] as const),
)

type Shown = Readonly<Record<string, Setting>>

/** The settings in the record; those that are never shown are missing. */
const shownSettings: Shown = Object.fromEntries(settingRows.filter(([, { secret }]) => secret !== 'never_shown'))
const shownOldNames: Shown = Object.fromEntries(oldNames.map(([old, name]) => [old, settingTable[name] as Setting]))

/** The fields of the record that clients see. */
export const settingsRecordFields = {
  id: id(),
  createdAtMs: time('created_at_ms'),
  updatedAtMs: time('updated_at_ms'),
  ...shownSettings,
  ai_availability: oneOf('value', aiAvailabilities),
  ...shownOldNames,
}

export interface SettingsRecord
  extends ObjectOf<typeof settingsRecordFields>,
    Readonly<Partial<Record<SettingName, unknown>>> {}

/** Returns the record for clients, without secrets. */
export function recordOf(values: SettingValues, times: SettingsTimes): SettingsRecord {
  const shown = Object.keys(shownSettings).map((name) => [name, shownValue(name as SettingName, values)])
  const old = oldNames.map(([oldName, name]) => [oldName, shownValue(name, values)])
  return {
    id: SETTINGS_ID,
    ...times,
    ...Object.fromEntries(shown),
    ai_availability: aiAvailabilityOf(values),
    ...Object.fromEntries(old),
  }
}

/** Returns the availability of the assistant that its switches represent. */
export const aiAvailabilityOf = (
  values: Pick<SettingValues, 'ai_features_enabled' | 'lock_ai_features_enabled'>,
): AiAvailability => {
  if (values.lock_ai_features_enabled) return 'never_on'
  return values.ai_features_enabled ? 'default_on' : 'default_off'
}

/** Returns the switches for a state. GitLab reads every other text as `never_on`. */
export const aiSwitchesFor = (availability: string) => ({
  ai_features_enabled: availability === 'default_on',
  lock_ai_features_enabled: availability !== 'default_on' && availability !== 'default_off',
})

function shownValue(name: SettingName, values: SettingValues): unknown {
  const value = values[name]
  return (settingTable[name] as Setting).secret === 'masked' && value !== undefined ? MASK : value
}
