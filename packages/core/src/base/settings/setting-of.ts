import type { Core } from '../operations/context.ts'
import { readSettings } from './settings-store.ts'
import type { SettingName, SettingValues } from './table/setting-table.ts'

interface Reading {
  /** The time of the monotonic clock. */
  readonly startedAtMs: number
  readonly values: Promise<SettingValues>
}

/**
 * The latest values that were read, by the process settings of the core. Copies of a core with other listeners share
 * these settings, and so the values.
 */
const readings = new WeakMap<Core['settings'], Reading>()

/**
 * Returns the settings in force. A process reads them again after `settingsCacheSeconds`, so that changes by other processes
 * appear within that time. Do not show them to clients: secrets are among them.
 */
export function settingsOf(core: Core): Promise<SettingValues> {
  const { settings } = core
  const atMs = core.clock.monotonicMs()
  const latest = readings.get(settings)
  if (latest !== undefined && atMs - latest.startedAtMs < settings.settingsCacheSeconds * 1_000) return latest.values
  const reading = { startedAtMs: atMs, values: readSettings({ db: core.db.read }, settings) }
  readings.set(settings, reading)
  reading.values.catch(() => {
    if (readings.get(settings) === reading) readings.delete(settings)
  })
  return reading.values
}

/** Returns the value of a setting in force. */
export const settingOf = async <Name extends SettingName>(core: Core, name: Name): Promise<SettingValues[Name]> =>
  (await settingsOf(core))[name]

/** Makes this process read the settings again, after it has changed them. */
export function forgetSettings({ settings }: Pick<Core, 'settings'>): void {
  readings.delete(settings)
}
