import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { Core } from '../../base/operations/context.ts'
import { effectiveVariables, type VariableCircumstances } from '../variables/effective-variables.ts'
import type { Variable } from '../variables/variable.ts'
import { type SealedVariable, unsealVariable, variableLevelsOf } from '../variables/variable-store.ts'

/** The OTLP signals that can be exported, in the spelling that the variable uses. */
export const exportSignals = ['traces', 'metrics', 'logs'] as const
type ExportSignal = (typeof exportSignals)[number]

/** The export settings of a pipeline, from CI/CD variables. */
export interface ExportSettings {
  /** The signals to export; an empty list disables the export. */
  readonly signals: readonly ExportSignal[]
  /** The bearer token, or `undefined` to send no credential. A secret: it must never be shown. */
  readonly token: string | undefined
  /** Tells the project's maintainers which values are ignored, and why. Never contains a value that may be a secret. */
  readonly warnings: readonly string[]
}

type ExportVariable = Pick<Variable, 'key' | 'value' | 'type' | 'isMasked' | 'isHidden'>

/** Returns the settings from the variables that apply to a pipeline. Each key may occur only once among them. */
export function parseExportSettings(variables: readonly ExportVariable[], serviceName: string): ExportSettings {
  const keys = exportVariableKeys(serviceName)
  const find = (key: string) => variables.find((variable) => variable.key === key)
  const signals = signalsOf(find(keys.signals))
  const token = tokenOf(find(keys.token))
  return { signals: signals.value, token: token.value, warnings: [...signals.warnings, ...token.warnings] }
}

/**
 * Returns the settings from the variables of a project and its groups. Variables that do not apply in these
 * circumstances are ignored, with a warning.
 */
export async function loadExportSettings(
  context: ReadContext,
  core: Core,
  project: Project,
  circumstances: VariableCircumstances,
): Promise<ExportSettings> {
  const { serviceName } = core.settings
  const levels = await variableLevelsOf(context, project, Object.values(exportVariableKeys(serviceName)))
  const applied = effectiveVariables(levels, circumstances).map((variable) => unsealVariable({ core }, variable))
  const settings = parseExportSettings(applied, serviceName)
  const ignored = levels.flat().filter(({ key }) => !applied.some((variable) => variable.key === key))
  return { ...settings, warnings: [...settings.warnings, ...new Set(ignored.map(notAppliedWarning))] }
}

/** Returns the variable names for a service: `SVC_OBSERVABILITY_EXPORT` and `SVC_OBSERVABILITY_TOKEN` for `svc`. */
export function exportVariableKeys(serviceName: string) {
  const prefix = serviceName.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')
  return { signals: `${prefix}_OBSERVABILITY_EXPORT`, token: `${prefix}_OBSERVABILITY_TOKEN` } as const
}

interface Parsed<Value> {
  readonly value: Value
  readonly warnings: readonly string[]
}

function signalsOf(variable: ExportVariable | undefined): Parsed<readonly ExportSignal[]> {
  if (variable === undefined) return { value: [], warnings: [] }
  const { key, value, type } = variable
  if (type === 'file') return { value: [], warnings: [fileTypeWarning(key)] }
  const words = [...new Set(value.split(',').map((word) => word.trim().toLowerCase()))].filter((word) => word !== '')
  if (words.length === 0) return { value: [], warnings: [`${key} is empty: nothing is exported`] }
  const joined = words.filter((word) => /[\s;]/.test(word))
  const unknown = words.filter((word) => !joined.includes(word) && !(exportSignals as readonly string[]).includes(word))
  return {
    value: exportSignals.filter((signal) => words.includes(signal)),
    warnings: [
      ...(joined.length > 0 ? [`${key} must separate signals by commas, not by blanks or semicolons`] : []),
      ...unknown.slice(0, MAX_WORDS_SHOWN).map((word) => {
        return `${key} contains ${safeWord(word, variable)}: valid signals are ${exportSignals.join(', ')}`
      }),
    ],
  }
}

const MAX_WORDS_SHOWN = 5

/** Returns the word, unless it could be a secret: the user may have put the token into the wrong variable. */
function safeWord(word: string, { isMasked, isHidden }: ExportVariable): string {
  return !isMasked && !isHidden && /^[a-z-]{1,20}$/.test(word) ? word : 'an unknown value'
}

function tokenOf(variable: ExportVariable | undefined): Parsed<string | undefined> {
  const none = (warning: string) => ({ value: undefined, warnings: [warning] })
  if (variable === undefined) return { value: undefined, warnings: [] }
  const { key, type } = variable
  if (type === 'file') return none(fileTypeWarning(key))
  const value = variable.value.trim()
  if (value === '') return none(`${key} is empty: no credential is sent`)
  if (!/^[\x21-\x7e]+$/.test(value))
    return none(`${key} has characters that a header cannot contain: no credential is sent`)
  return {
    value,
    warnings: variable.isMasked ? [] : [`${key} is not masked, so job logs may contain it: mask the variable`],
  }
}

const fileTypeWarning = (key: string): string =>
  `${key} is ignored because its type is file: change the type to env_var`

function notAppliedWarning({ key, isProtected, environmentScope }: SealedVariable): string {
  const conditions = [
    ...(isProtected ? ['on protected refs'] : []),
    ...(environmentScope === '*' ? [] : [`in pipelines with a job in the environment ${environmentScope}`]),
  ]
  return `${key} applies only ${conditions.join(' and ')}`
}
