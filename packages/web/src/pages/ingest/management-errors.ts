import type { FieldErrors } from './token-form-model.ts'

/** The parts of an error answer that these functions read; the client's `ApiError` has them. */
export interface ManagementFailure {
  readonly code: string
  readonly message: string
  readonly details: unknown
}

/** Sentences that help more on a page than the message of the API does. */
const texts: Readonly<Record<string, string>> = {
  precondition_failed:
    'Someone else has changed this in the meantime. The page now shows the current state; try again.',
  token_not_found: 'This token is gone: someone else has revoked it.',
  api_key_not_found: 'This key is gone: someone else has revoked it.',
  last_valid_token:
    'This is the last valid token, and tokens are required. Create another one first, or turn enforcement off.',
  last_admin_key: 'This is the last Admin key. Create another one first.',
}

/** Returns the sentence that a page shows where the action was. */
export const failureText = ({ code, message }: ManagementFailure): string =>
  Object.hasOwn(texts, code) ? texts[code]! : message

interface FieldProblem {
  readonly field: string
  readonly problem: string
  readonly max?: number
  readonly min?: number
}

const problemTexts: Readonly<Record<string, (problem: FieldProblem) => string>> = {
  required: () => 'This is required.',
  too_long: ({ max }) => `At most ${max} are allowed.`,
  too_short: ({ min }) => `At least ${min} are required.`,
  too_big: ({ max }) => `The highest value is ${max}.`,
  too_small: ({ min }) => `The lowest value is ${min}.`,
  not_in_the_future: () => 'Choose a time in the future.',
  control_character: () => 'Control characters are not allowed.',
}

/** Returns what the API found wrong with each field, by the name of the field; entries of lists count for their list. */
export function fieldErrors({ code, details }: ManagementFailure): FieldErrors {
  if (code !== 'invalid_field' || !Array.isArray(details)) return {}
  const errors = (details as FieldProblem[]).map((problem) => {
    const text = Object.hasOwn(problemTexts, problem.problem)
      ? problemTexts[problem.problem]!(problem)
      : 'Not in the form that the API accepts.'
    return [fieldOf(problem.field), text] as const
  })
  return Object.fromEntries(errors)
}

const fieldOf = (field: string): string => (field.startsWith('limits.') ? field : field.split('.')[0]!)
