import type { Core, ReadContext } from '../kit/context.ts'
import type { Project } from '../projects/project.ts'
import { effectiveVariables, type VariableCircumstances } from '../variables/effective-variables.ts'
import type { Variable } from '../variables/variable.ts'
import { variableLevelsOf } from '../variables/variable-operations.ts'
import { type SealedVariable, unsealVariable } from '../variables/variable-store.ts'

/** What of a pipeline can be exported, as the variable names it. */
export const exportSignals = ['traces', 'metrics', 'logs'] as const
export type ExportSignal = (typeof exportSignals)[number]

/** What the CI/CD variables say about the export of a pipeline. */
export interface ExportSettings {
  /** Without any, nothing is exported. */
  readonly signals: readonly ExportSignal[]
  /** Sent as bearer; `undefined`: no credential is sent. Never to be shown. */
  readonly token: string | undefined
  /** For the project's maintainers: what has been ignored, and why. They repeat no value that may be a secret. */
  readonly warnings: readonly string[]
}

type Given = Pick<Variable, 'key' | 'value' | 'type' | 'isMasked' | 'isHidden'>

/**
 * What those variables say that count for a pipeline, one of each key at most.
 *
 * @see spec/interface-1.md 4.3
 */
export function exportSettingsOf(variables: readonly Given[], serviceName: string): ExportSettings {
  const keys = exportVariableKeys(serviceName)
  const find = (key: string) => variables.find((variable) => variable.key === key)
  const signals = signalsOf(find(keys.signals))
  const token = tokenOf(find(keys.token))
  return { signals: signals.value, token: token.value, warnings: [...signals.warnings, ...token.warnings] }
}

/**
 * What the variables of a project and its groups say, under these circumstances.
 *
 * @see design.md 6 and 7, ruling 12
 */
export async function exportSettingsFor(
  context: ReadContext,
  core: Core,
  project: Project,
  circumstances: VariableCircumstances,
): Promise<ExportSettings> {
  const { serviceName } = core.settings
  const levels = await variableLevelsOf(context, project, Object.values(exportVariableKeys(serviceName)))
  const counting = effectiveVariables(levels, circumstances).map((variable) => unsealVariable(core, variable))
  const settings = exportSettingsOf(counting, serviceName)
  const idle = levels.flat().filter(({ key }) => !counting.some((variable) => variable.key === key))
  return { ...settings, warnings: [...settings.warnings, ...new Set(idle.map(whyIdle))] }
}

/** `SVC_OBSERVABILITY_EXPORT` and `SVC_OBSERVABILITY_TOKEN`, by the service's own name. */
export function exportVariableKeys(serviceName: string) {
  const prefix = serviceName.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')
  return { signals: `${prefix}_OBSERVABILITY_EXPORT`, token: `${prefix}_OBSERVABILITY_TOKEN` } as const
}

interface Said<Value> {
  readonly value: Value
  readonly warnings: readonly string[]
}

function signalsOf(variable: Given | undefined): Said<readonly ExportSignal[]> {
  if (variable === undefined) return { value: [], warnings: [] }
  const { key, value, type } = variable
  if (type === 'file') return { value: [], warnings: [isFile(key)] }
  const words = [...new Set(value.split(',').map((word) => word.trim().toLowerCase()))].filter((word) => word !== '')
  if (words.length === 0) return { value: [], warnings: [`${key} is empty: nothing is exported`] }
  const joined = words.filter((word) => /[\s;]/.test(word))
  const unknown = words.filter((word) => !joined.includes(word) && !(exportSignals as readonly string[]).includes(word))
  return {
    value: exportSignals.filter((signal) => words.includes(signal)),
    warnings: [
      ...(joined.length > 0 ? [`${key} separates words by blanks or semicolons: it has to be commas`] : []),
      ...unknown.slice(0, MOST_WORDS_NAMED).map((word) => {
        return `${key} names ${shown(word, variable)}, which is none of ${exportSignals.join(', ')}`
      }),
    ],
  }
}

const MOST_WORDS_NAMED = 5

/** Somebody may have put the token into the wrong variable. */
function shown(word: string, { isMasked, isHidden }: Given): string {
  return !isMasked && !isHidden && /^[a-z-]{1,20}$/.test(word) ? word : 'something'
}

function tokenOf(variable: Given | undefined): Said<string | undefined> {
  const none = (warning: string) => ({ value: undefined, warnings: [warning] })
  if (variable === undefined) return { value: undefined, warnings: [] }
  const { key, type } = variable
  if (type === 'file') return none(isFile(key))
  const value = variable.value.trim()
  if (value === '') return none(`${key} is empty: no credential is sent`)
  if (!/^[\x21-\x7e]+$/.test(value)) return none(`${key} has characters that no header carries: no credential is sent`)
  return { value, warnings: variable.isMasked ? [] : [`${key} is not masked: logs of jobs may show it`] }
}

const isFile = (key: string): string => `${key} is of type file and ignored: its type has to be env_var`

function whyIdle({ key, isProtected, environmentScope }: SealedVariable): string {
  const conditions = [
    ...(isProtected ? ['on protected refs'] : []),
    ...(environmentScope === '*' ? [] : [`in pipelines with a job in the environment ${environmentScope}`]),
  ]
  return `${key} counts only ${conditions.join(' and ')}`
}
