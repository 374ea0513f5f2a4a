import { amountSettings } from './amount-settings.ts'
import { choiceSettings } from './choice-settings.ts'
import { rateSettings } from './rate-settings.ts'
import type { Setting } from './setting.ts'
import { structureSettings } from './structure-settings.ts'
import { switchSettings } from './switch-settings.ts'
import { textSettings } from './text-settings.ts'
import { tierSettings } from './tier-settings.ts'

/**
 * Every application setting: its type, default, bounds, companions and former names, and whether the service acts on it.
 * docs/reference/settings.md is generated from it. The order is that of the record and of error messages.
 */
export const settingTable = {
  ...amountSettings,
  ...rateSettings,
  ...choiceSettings,
  ...switchSettings,
  ...textSettings,
  ...structureSettings,
  ...tierSettings,
}

export type SettingName = keyof typeof settingTable

/** The values of all settings by name; `undefined` for one that is null. */
export type SettingValues = { readonly [Name in SettingName]: (typeof settingTable)[Name]['value'] }

export const settingRows = Object.entries(settingTable) as unknown as readonly (readonly [SettingName, Setting])[]
