import type { ReadContext } from '../kit/store-context.ts'
import type { Core, CoreSettings, Tx } from '../operations/context.ts'
import { newNonce, sealText, unsealText } from '../secrets/sealed-text.ts'
import type { Setting } from './table/setting.ts'
import { type SettingName, type SettingValues, settingRows, settingTable } from './table/setting-table.ts'

declare module '../kit/tables.ts' {
  interface CoreTables {
    application_settings: ApplicationSettingsTable
    application_setting_values: ApplicationSettingValuesTable
  }
}

/** The only record; it has the id 1. */
interface ApplicationSettingsTable {
  id: number
  created_at_ms: number
  updated_at_ms: number
}

/** The values that have been set. A setting without a row has its default, also if a later release changes the default. */
interface ApplicationSettingValuesTable {
  name: string
  /** JSON; encrypted if the setting is a secret. */
  value: string
}

export interface SettingsTimes {
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** The id of the only record. */
export const SETTINGS_ID = 1

/** Returns the values of all settings: pinned ones, or else stored ones, or else the defaults. */
export async function readSettings({ db }: Pick<ReadContext, 'db'>, instance: CoreSettings): Promise<SettingValues> {
  const rows = await db.selectFrom('application_setting_values').select(['name', 'value']).execute()
  const stored = new Map(rows.map(({ name, value }) => [name, value]))
  const effective = (name: SettingName, setting: Setting): unknown => {
    if (Object.hasOwn(instance.pinnedSettings, name)) return instance.pinnedSettings[name]
    const value = stored.get(name)
    return value === undefined ? defaultOf(setting, instance) : decoded(name, setting, value, instance)
  }
  return Object.fromEntries(settingRows.map(([name, setting]) => [name, effective(name, setting)])) as SettingValues
}

export const defaultOf = ({ defaultOf: ofInstance, details }: Setting, instance: CoreSettings): unknown =>
  ofInstance === undefined ? details.fallback : ofInstance(instance)

/** Stores the values of some settings. */
export async function writeSettings(
  { db, nowMs }: Pick<Tx, 'db' | 'nowMs'>,
  { randomBytes, settings }: Pick<Core, 'randomBytes' | 'settings'>,
  values: Partial<SettingValues>,
): Promise<void> {
  for (const [name, value] of Object.entries(values)) {
    const json = JSON.stringify(value ?? null)
    const isSecret = settingTable[name as SettingName].secret !== undefined
    const text = isSecret ? sealText(settings.secretsKey, newNonce(randomBytes), placeOf(name), json) : json
    await db
      .insertInto('application_setting_values')
      .values({ name, value: text })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: text }))
      .execute()
  }
  await db.updateTable('application_settings').set({ updated_at_ms: nowMs }).execute()
}

export async function findSettingsTimes({ db }: Pick<ReadContext, 'db'>): Promise<SettingsTimes | undefined> {
  const row = await db.selectFrom('application_settings').selectAll().executeTakeFirst()
  return row && { createdAtMs: row.created_at_ms, updatedAtMs: row.updated_at_ms }
}

/** Creates the record if there is none. */
export async function ensureSettingsRecord({ db, nowMs }: Pick<Tx, 'db' | 'nowMs'>): Promise<void> {
  await db
    .insertInto('application_settings')
    .values({ id: SETTINGS_ID, created_at_ms: nowMs, updated_at_ms: nowMs })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
}

function decoded(name: string, { secret }: Setting, value: string, { secretsKey }: CoreSettings): unknown {
  const json = secret === undefined ? value : unsealText(secretsKey, placeOf(name), value)
  return JSON.parse(json) ?? undefined
}

const placeOf = (name: string): readonly string[] => ['application_setting', name]

/**
 * Returns the id of the group with this path. It queries the table of groups directly, because the code for groups
 * depends on settings.
 */
export async function findGroupId({ db }: Pick<ReadContext, 'db'>, path: string): Promise<number | undefined> {
  const row = await db
    .selectFrom('routes')
    .select('group_id')
    .where('path', '=', path.trim().toLowerCase())
    .where('is_former', '=', 0)
    .executeTakeFirst()
  return row?.group_id ?? undefined
}
