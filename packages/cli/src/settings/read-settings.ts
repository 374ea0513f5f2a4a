import { readFileSync, statSync } from 'node:fs'
import { UsageError } from '../process/environment.ts'
import { isSystemError, systemReason } from '../process/system-error.ts'
import type { SettingRow } from './setting-row.ts'
import { type SettingName, type Settings, settingTable } from './setting-table.ts'

type Variables = Readonly<Record<string, string | undefined>>

const rows = Object.entries(settingTable) as [SettingName, SettingRow][]
const ownVariables = new Set(rows.map(([, row]) => row.variable))
/** The greatest length of a file with one secret. */
const MAX_SECRET_BYTES = 65_536

/**
 * Returns the variable that names a file with the value of a secret setting, as containers and systemd pass secrets;
 * `undefined` for other settings, and if that variable is a setting of its own.
 */
export function fileVariableOf({ variable, secret }: SettingRow): string | undefined {
  const name = `${variable}_FILE`
  return secret && !ownVariables.has(name) ? name : undefined
}

/** Variables of other commands. Any other variable that starts with PENSTOCK_ must be a setting. */
const otherVariables = ['PENSTOCK_EXPORT_TOKEN', 'PENSTOCK_FORGE_TOKEN']

/**
 * Reads settings from a JSON file and from variables, which override the file.
 *
 * @param given settings from the command line, which override both
 * @param defaults values that replace the defaults of the table
 * @throws {UsageError} that names the first unknown or invalid setting, without its value
 */
export function readSettings(
  file: string | undefined,
  env: Variables,
  given: Partial<Record<SettingName, string>> = {},
  defaults: Partial<Record<SettingName, string>> = {},
): Settings {
  const inFile = file === undefined ? new Map<string, string>() : readFile(file)
  requireKnown(inFile, env)
  const settings: Record<string, unknown> = {}
  for (const [name, row] of rows) {
    const [value, place] = sourceOf(name, { ...row, fallback: defaults[name] ?? row.fallback }, inFile, env, given)
    if (value === undefined) continue
    const parsed = row.shape.parse(value)
    if (parsed === undefined) throw new UsageError(`${place} must be ${row.shape.form}`)
    settings[name] = parsed
  }
  return settings as Settings
}

function sourceOf(
  name: SettingName,
  row: SettingRow,
  inFile: ReadonlyMap<string, string>,
  env: Variables,
  given: Partial<Record<SettingName, string>>,
): [value: string | undefined, place: string] {
  if (given[name] !== undefined) return [given[name], name]
  const variable = env[row.variable] || undefined
  const fileVariable = fileVariableOf(row)
  const secretFile = (fileVariable && env[fileVariable]) || undefined
  if (variable !== undefined && secretFile !== undefined) {
    throw new UsageError(`${row.variable} and ${fileVariable} must not both be set`)
  }
  if (variable !== undefined) return [variable, row.variable]
  if (secretFile !== undefined) return [readSecret(secretFile), `the content of ${fileVariable}`]
  if (inFile.has(name)) return [inFile.get(name), `${name} in the settings file`]
  return [row.fallback, name]
}

/** Returns the text of a file without the line break at its end. */
function readSecret(file: string): string {
  try {
    if (statSync(file).size > MAX_SECRET_BYTES) throw new UsageError(`${file} is too long for a secret`)
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    if (!isSystemError(error)) throw error
    throw new UsageError(`cannot read ${file}: ${systemReason(error)}`)
  }
}

function requireKnown(inFile: ReadonlyMap<string, string>, env: Variables): void {
  const unknownInFile = [...inFile.keys()].find((name) => !(name in settingTable))
  if (unknownInFile !== undefined)
    throw new UsageError(`unknown setting ${JSON.stringify(unknownInFile)} in the settings file`)
  const fileVariables = rows.flatMap(([, row]) => fileVariableOf(row) ?? [])
  const known = new Set([...otherVariables, ...ownVariables, ...fileVariables])
  const unknown = Object.keys(env).find((variable) => variable.startsWith('PENSTOCK_') && !known.has(variable))
  if (unknown !== undefined) throw new UsageError(`unknown setting ${unknown}`)
}

/** Reads the settings file. `{ "gateway": { "http": "…" } }` and `{ "gateway.http": "…" }` are equivalent. */
function readFile(file: string): Map<string, string> {
  const found = new Map<string, string>()
  collect(parseFile(file), '', found)
  return found
}

function parseFile(file: string): unknown {
  let content: string
  try {
    content = readFileSync(file, 'utf8')
  } catch (error) {
    if (!isSystemError(error)) throw error
    throw new UsageError(`cannot read ${file}: ${systemReason(error)}`)
  }
  try {
    return JSON.parse(content)
  } catch {
    throw new UsageError(`${file} is not JSON`)
  }
}

function collect(value: unknown, name: string, found: Map<string, string>): void {
  const isBranch = typeof value === 'object' && value !== null && !Array.isArray(value) && !(name in settingTable)
  if (isBranch) {
    for (const [key, inner] of Object.entries(value)) collect(inner, name === '' ? key : `${name}.${key}`, found)
  } else if (name === '') {
    throw new UsageError('the settings file must contain a JSON object')
  } else if (Array.isArray(value)) {
    found.set(name, value.join(','))
  } else {
    found.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value))
  }
}
