import { z } from 'zod'
import type { Group } from '../groups/group.ts'
import { clearable } from '../kit/parameter-schemas.ts'
import type { Project } from '../projects/project.ts'

export const variableTypes = ['env_var', 'file'] as const
export type VariableType = (typeof variableTypes)[number]

/** The scope that matches every environment. */
export const EVERY_ENVIRONMENT = '*'
const MAX_VALUE_LENGTH = 10_000
/** The limit of variables in one project or group. */
export const maxVariables = { project: 8_000, group: 30_000 } as const

/** A CI/CD variable of a project or group. One key may have several, each with its environment scope. */
export interface Variable {
  readonly id: number
  readonly key: string
  readonly value: string
  readonly type: VariableType
  /** Whether the variable is available on protected refs only. */
  readonly isProtected: boolean
  /** Whether job logs mask the value. */
  readonly isMasked: boolean
  /** Whether the value is never shown again. */
  readonly isHidden: boolean
  /** Whether references to other variables in the value are kept as they are. */
  readonly isRaw: boolean
  /** The environments of the variable, such as `*`, `production` or `review/*`. */
  readonly environmentScope: string
  readonly description: string | undefined
}

export type VariableDraft = Omit<Variable, 'id'>

/** The group or project that a variable belongs to. */
export type VariableParent = Pick<Group, 'kind' | 'id'> | Pick<Project, 'kind' | 'id'>

/** The parameters of create and update; those of create alone are in the operations. */
export const variableInput = {
  variableType: z.enum(variableTypes).nullish(),
  protected: z.boolean().nullish(),
  masked: z.boolean().nullish(),
  raw: z.boolean().nullish(),
  environmentScope: z.string().nullish(),
  description: clearable(z.string()),
}

/** Selects one of several variables with the same key. */
export const variableFilter = z.object({ environmentScope: z.string().max(255).nullish() }).nullish()

/** The characters of Base64, tokens and URLs. Values of several words cannot be masked in a log. */
const maskable = /^[A-Za-z0-9_+=/@:.~-]{8,}$/
const maskableRaw = /^\S{8,}$/
const environmentScope = /^[A-Za-z0-9_/\\${}. *-]+$/

/** Returns the problems of a variable by attribute; empty if it is valid. */
export function validateVariable(draft: VariableDraft): Record<string, string[]> {
  const problems: [string, string | false][] = [
    ['key', draft.key === '' && "can't be blank"],
    ['key', !/^[A-Za-z0-9_]*$/.test(draft.key) && 'can contain only letters, digits and _'],
    ['key', draft.key.length > 255 && 'is too long (maximum is 255 characters)'],
    ['value', draft.value.length > MAX_VALUE_LENGTH && `is too long (maximum is ${MAX_VALUE_LENGTH} characters)`],
    ['value', draft.isMasked && !(draft.isRaw ? maskableRaw : maskable).test(draft.value) && 'is invalid'],
    ['environmentScope', draft.environmentScope.length > 255 && 'is too long (maximum is 255 characters)'],
    ['environmentScope', !environmentScope.test(draft.environmentScope) && 'is invalid'],
    ['description', (draft.description ?? '').length > 255 && 'is too long (maximum is 255 characters)'],
  ]
  const found = problems.filter((problem): problem is [string, string] => problem[1] !== false)
  return Object.fromEntries(
    found.map(([key]) => [key, found.filter(([other]) => other === key).map(([, text]) => text)]),
  )
}
