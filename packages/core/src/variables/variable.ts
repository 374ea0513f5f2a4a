import { z } from 'zod'
import type { Group } from '../groups/group.ts'
import { clearable } from '../kit/parameter-schemas.ts'
import type { Project } from '../projects/project.ts'

export const variableTypes = ['env_var', 'file'] as const
export type VariableType = (typeof variableTypes)[number]

/** Counts in every environment. */
export const EVERY_ENVIRONMENT = '*'
const MAX_VALUE_LENGTH = 10_000
/** How many one project or group may have. */
export const maxVariables = { project: 8_000, group: 30_000 } as const

/** A CI/CD variable of a project or group. One key may have several, each with its environment scope. */
export interface Variable {
  readonly id: number
  readonly key: string
  readonly value: string
  readonly type: VariableType
  /** Counts on protected refs only. */
  readonly isProtected: boolean
  /** Not to be seen in job logs. */
  readonly isMasked: boolean
  /** Nobody is shown the value again. */
  readonly isHidden: boolean
  /** References to other variables in it are not replaced. */
  readonly isRaw: boolean
  /** `*`, `production`, `review/*` */
  readonly environmentScope: string
  readonly description: string | undefined
}

export type VariableDraft = Omit<Variable, 'id'>

/** Of whom a variable is. */
export type VariableParent = Pick<Group, 'kind' | 'id'> | Pick<Project, 'kind' | 'id'>

/** Parameters that can be set; those of a new one are in the operations. */
export const variableInput = {
  variableType: z.enum(variableTypes).nullish(),
  protected: z.boolean().nullish(),
  masked: z.boolean().nullish(),
  raw: z.boolean().nullish(),
  environmentScope: z.string().nullish(),
  description: clearable(z.string()),
}

/** Chooses between variables of one key. */
export const variableFilter = z.object({ environmentScope: z.string().max(255).nullish() }).nullish()

/** Plain words of Base64, tokens and URLs; what could be more than one word in a log cannot be hidden there. */
const maskable = /^[A-Za-z0-9_+=/@:.~-]{8,}$/
const maskableRaw = /^\S{8,}$/
const environmentScope = /^[A-Za-z0-9_/\\${}. *-]+$/

/** What is wrong with it, by attribute; empty when nothing is. */
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
