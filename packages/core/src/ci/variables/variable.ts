import { z } from 'zod'
import {
  changesOf,
  flag,
  id,
  matches,
  maxLength,
  notBlank,
  type ObjectOf,
  oneOf,
  parametersOf,
  text,
} from '../../base/kit/field-table.ts'
import { pageInput } from '../../base/kit/page.ts'
import { parentInput } from '../../identity/parents/parent-operations.ts'

export const variableTypes = ['env_var', 'file'] as const

/** The scope that matches every environment. */
export const EVERY_ENVIRONMENT = '*'
/** The limit of variables in one project or group. */
export const maxVariables = { project: 8_000, group: 30_000 } as const

const names = {
  key: text('key').check(
    notBlank,
    matches(/^[A-Za-z0-9_]*$/, 'can contain only letters, digits and _'),
    maxLength(255),
  ),
  value: text('sealed_value').check(maxLength(10_000)).secret(),
}
const settings = {
  type: oneOf('variable_type', variableTypes).as('variableType'),
  /** Whether the variable is available on protected refs only. */
  isProtected: flag('is_protected').as('protected'),
  /** Whether job logs mask the value. */
  isMasked: flag('is_masked').as('masked'),
  /** Whether references to other variables in the value are kept as they are. */
  isRaw: flag('is_raw').as('raw'),
  /** The environments of the variable, such as `*`, `production` or `review/*`. */
  environmentScope: text('environment_scope')
    .check(maxLength(255), matches(/^[A-Za-z0-9_/\\${}. *-]+$/))
    .default(EVERY_ENVIRONMENT),
  description: text('description').check(maxLength(255)).optional(),
}
/** The fields that a user sets. The column has the encrypted value. */
export const variableDraft = {
  ...names,
  ...settings,
  /** Whether the value is never shown again. */
  isHidden: flag('is_hidden').as('hidden'),
}
export const variableFields = { id: id(), ...variableDraft }

/**
 * A CI/CD variable of a project or group. Several variables may have the same key, each with a different environment
 * scope.
 */
export interface Variable extends ObjectOf<typeof variableFields> {}
export type VariableDraft = ObjectOf<typeof variableDraft>

const changes = changesOf(settings, 'nullish')
export const createVariableInput = z.object({
  ...parentInput,
  ...parametersOf(names),
  maskedAndHidden: z.boolean().nullish(),
  ...changes,
})

/** Identifies a variable by its key, and by its scope if several have the key. */
const one = {
  ...parentInput,
  key: z.string().min(1).max(255),
  filter: z.object({ environmentScope: z.string().max(255).nullish() }).nullish(),
}
export const variableInput = z.object(one)
export const updateVariableInput = z.object({ ...one, value: z.string().nullish(), ...changes })
export const listVariablesInput = z.object({ ...parentInput, ...pageInput })

export const variablesOfEachInput = z.object({
  orderBy: z.enum(['id', 'key']).default('id'),
  sort: z.enum(['asc', 'desc']).default('asc'),
})

export type VariableOrder = z.output<typeof variablesOfEachInput>

/** A variable as shown to its administrators; `value` is missing if it is hidden. */
export interface ShownVariable extends Omit<Variable, 'value'> {
  readonly value: string | undefined
}

export const shownVariable = (variable: Variable): ShownVariable =>
  variable.isHidden ? { ...variable, value: undefined } : variable

/**
 * Returns whether a log can mask the value: it has at least 8 characters, and only those of Base64, tokens and URLs. A
 * raw value may have all characters except spaces.
 */
export const isMaskable = ({ value, isRaw }: Pick<Variable, 'value' | 'isRaw'>): boolean =>
  (isRaw ? /^\S{8,}$/ : /^[A-Za-z0-9_+=/@:.~-]{8,}$/).test(value)
