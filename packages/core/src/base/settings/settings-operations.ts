import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { invalid } from '../kit/domain-error.ts'
import { brokenRules } from '../kit/field-table.ts'
import type { OperationContext, Tx } from '../operations/context.ts'
import { unscopedCommand, unscopedQuery, unscopedSteps } from '../operations/operation.ts'
import { PLATFORM_AVAILABILITY } from './platform-names.ts'
import { type Given, readGiven } from './read-given.ts'
import { forgetSettings } from './setting-of.ts'
import { namesOf, type SettingsInput, updateSettingsInput } from './settings-input.ts'
import { aiAvailabilityOf, aiSwitchesFor, MASK, recordOf, type SettingsRecord } from './settings-record.ts'
import { rulesAcross } from './settings-rules.ts'
import {
  ensureSettingsRecord,
  findGroupId,
  findSettingsTimes,
  readSettings,
  SETTINGS_ID,
  type SettingsTimes,
  writeSettings,
} from './settings-store.ts'
import type { Setting } from './table/setting.ts'
import { type SettingName, type SettingValues, settingRows, settingTable } from './table/setting-table.ts'

/** Returns all settings from the database. The record is created when it is first needed. */
export const getApplicationSettings = unscopedSteps(
  { name: 'getApplicationSettings', caller: 'administrator', input: z.object({}) },
  async (context): Promise<SettingsRecord> => {
    const values = await readSettings(context, context.core.settings)
    const times = (await findSettingsTimes(context)) ?? (await context.write(ensuredTimes))
    return recordOf(values, times)
  },
)

/** Changes settings. If there are errors, all of them are reported together, and nothing is changed. */
export const updateApplicationSettings = unscopedCommand(
  { name: 'updateApplicationSettings', caller: 'administrator', input: updateSettingsInput },
  async (tx, input: SettingsInput): Promise<SettingsRecord> => {
    const before = await readSettings(tx, tx.core.settings)
    await ensureSettingsRecord(tx)
    const given = await givenValues(tx, input, before)
    const after = { ...before, ...given.values }
    const changed = settingRows.map(([name]) => name).filter((name) => !isDeepStrictEqual(before[name], after[name]))
    requireValid(tx, given, after, changed)
    if (changed.length > 0) {
      await writeSettings(tx, tx.core, pick(after, changed))
      await tx.recordEvent({
        type: 'application_settings.updated',
        objectId: SETTINGS_ID,
        details: { changes: Object.fromEntries(changed.map((name) => [name, auditedChange(name, before, after)])) },
      })
      tx.afterCommit(async (core) => forgetSettings(core))
    }
    return recordOf(after, await ensuredTimes(tx))
  },
)

/** Returns the settings that CI/CD pages show. Only administrators may read them. */
export const getCiApplicationSettings = unscopedQuery(
  { name: 'getCiApplicationSettings', caller: 'administrator', input: z.object({}) },
  async (context) => {
    const { keep_latest_artifact: keepLatestArtifact } = await readSettings(context, context.core.settings)
    return { keepLatestArtifact }
  },
)

async function ensuredTimes(tx: Tx): Promise<SettingsTimes> {
  await ensureSettingsRecord(tx)
  return (await findSettingsTimes(tx))!
}

interface GivenValues {
  readonly values: Partial<SettingValues>
  /** Messages for parameters of an invalid type. */
  readonly errors: Readonly<Record<string, readonly string[]>>
}

/** Returns the values that the input sets. */
async function givenValues(
  tx: OperationContext & Tx,
  input: SettingsInput,
  before: SettingValues,
): Promise<GivenValues> {
  const values: Record<string, unknown> = {}
  const errors: Record<string, readonly string[]> = {}
  const availabilities = [input.ai_availability, input[PLATFORM_AVAILABILITY]].filter(
    (each) => typeof each === 'string',
  )
  // A client that sends back a record has changed only one of both.
  const availability = availabilities.find((each) => each !== aiAvailabilityOf(before)) ?? availabilities[0]
  const switches: SettingsInput = availability === undefined ? {} : aiSwitchesFor(availability)
  for (const [name, setting] of settingRows) {
    const given = [...namesOf(name, setting).map((parameter) => input[parameter]), switches[name]].filter(
      (value) => value !== undefined && !(setting.secret !== undefined && value === MASK),
    )
    const read = await Promise.all(given.map((value) => readParameter(tx, name, setting, value, before)))
    const [first] = read
    const wrong = read.find((each) => 'error' in each)
    if (wrong !== undefined) errors[name] = [wrong.error]
    // A client that sends back a record has changed only one of several names.
    else if (first !== undefined) {
      const change = read.find((each) => 'value' in each && !isDeepStrictEqual(each.value, before[name])) ?? first
      values[name] = 'value' in change && change.value
    }
  }
  return { values: values as Partial<SettingValues>, errors }
}

async function readParameter(
  tx: OperationContext & Tx,
  name: SettingName,
  setting: Setting,
  parameter: unknown,
  before: SettingValues,
): Promise<Given> {
  if (name === 'performance_bar_allowed_group_id' && isPath(parameter)) {
    const value = await findGroupId(tx, parameter)
    return value === undefined ? { error: 'is not the id or path of a group' } : { value }
  }
  const read = readGiven(setting, parameter)
  if ('error' in read || read.value === undefined || setting.normalize === undefined) return read
  return { value: setting.normalize(read.value, { instance: tx.core.settings, before: before[name] }) }
}

const isPath = (parameter: unknown): parameter is string => typeof parameter === 'string' && /[^\s\d]/.test(parameter)

/** @throws DomainError `invalid` */
function requireValid(
  { core }: OperationContext,
  { errors }: GivenValues,
  after: SettingValues,
  changed: readonly SettingName[],
): void {
  const { pinnedSettings } = core.settings
  const broken = brokenRules(pick(settingTable, changed), after)
  const problems: (readonly [name: string, message: string])[] = [
    ...pairsOf(errors),
    ...changed.filter((name) => Object.hasOwn(pinnedSettings, name)).map((name) => [name, PINNED] as const),
    ...pairsOf(broken),
    ...rulesAcross(after, core),
  ]
  if (problems.length === 0) return
  const fields: Record<string, readonly string[]> = {}
  for (const [name, message] of problems) fields[name] = [...(fields[name] ?? []), message]
  throw invalid(fields)
}

const pairsOf = (errors: Readonly<Record<string, readonly string[]>>) =>
  Object.entries(errors).flatMap(([name, messages]) => messages.map((message) => [name, message] as const))

const PINNED = 'is set by the configuration of the service and cannot be changed'

const pick = <Values extends object, Name extends keyof Values>(values: Values, names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, values[name]])) as Pick<Values, Name>

/** Events contain only short values, and no values of secrets. */
const MAX_AUDITED_CHARACTERS = 1_000

function auditedChange(name: SettingName, before: SettingValues, after: SettingValues): object {
  if ((settingTable[name] as Setting).secret !== undefined) return {}
  const change = { previous: before[name] ?? null, current: after[name] ?? null }
  return JSON.stringify(change).length > MAX_AUDITED_CHARACTERS ? {} : change
}
