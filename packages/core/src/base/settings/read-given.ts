import { parseBoolean } from '../kit/boolean-words.ts'
import type { FieldType } from '../kit/field-table.ts'
import type { Setting } from './table/setting.ts'

/** A value to store, or the message for a value that the setting cannot have. */
export type Given = { readonly value: unknown } | { readonly error: string }

/** Returns the value of a parameter that has passed its schema. */
export function readGiven(setting: Setting, given: unknown): Given {
  const { details, isTyped } = setting
  if (given === null || (given === '' && !isText(details.type))) return readNull(setting)
  if (given === '' && details.isOptional) return { value: undefined }
  return isTyped ? { value: given } : conversions[details.type](given)
}

const isText = (type: FieldType) => type === 'text'

function readNull({ details: { type, isOptional, values } }: Setting): Given {
  if (isOptional) return { value: undefined }
  if (type === 'text' && values === undefined) return { value: '' }
  return { error: nullErrors[type] }
}

const NOT_A_NUMBER = 'is not a number'
const NOT_IN_SCHEMA = 'must be a valid json schema'

/** The messages for null where a setting needs a value. */
const nullErrors: Readonly<Record<FieldType, string>> = {
  int: NOT_A_NUMBER,
  number: NOT_A_NUMBER,
  text: "can't be blank",
  flag: 'must be a boolean value',
  time: "can't be blank",
  day: "can't be blank",
  list: 'entries cannot be nil',
  object: NOT_IN_SCHEMA,
}

const notThis = (error: string) => (): Given => ({ error })

/**
 * The conversion of a parameter of any type to each field type. Columns of GitLab's database convert values in the same
 * way.
 */
const conversions: Readonly<Record<FieldType, (given: unknown) => Given>> = {
  int: (given) => {
    const read = readNumber(given)
    return 'value' in read && !Number.isInteger(read.value) ? { error: 'must be an integer' } : read
  },
  number: readNumber,
  text: (given) => (typeof given === 'object' ? { error: 'is invalid' } : { value: String(given) }),
  flag: (given) => {
    const value = typeof given === 'object' ? undefined : parseBoolean(String(given))
    return value === undefined ? { error: nullErrors.flag } : { value }
  },
  time: notThis('is invalid'),
  day: notThis('is invalid'),
  list: (given) => (Array.isArray(given) ? { value: given } : { error: 'is invalid' }),
  object: (given) =>
    typeof given === 'object' && !Array.isArray(given)
      ? { value: Object.fromEntries(Object.entries(given as object).map(([key, inner]) => [key, readMember(inner)])) }
      : { error: NOT_IN_SCHEMA },
}

function readNumber(given: unknown): Given {
  const number = typeof given === 'string' && /^\s*[+-]?\d{1,15}(\.\d{1,15})?\s*$/.test(given) ? Number(given) : given
  return typeof number === 'number' && Number.isFinite(number) ? { value: number } : { error: NOT_A_NUMBER }
}

/** Returns the member of an object as number or boolean if a form has sent it as text. */
function readMember(inner: unknown): unknown {
  if (typeof inner !== 'string') return inner
  if (/^-?\d{1,15}$/.test(inner)) return Number(inner)
  return { true: true, false: false }[inner] ?? inner
}
