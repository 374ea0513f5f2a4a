import { bodyFields, type Fields, quoted } from '../body/fields.ts'
import { MAX_INTEGER } from '../record/limits.ts'
import type { RunId } from '../record/run-id.ts'
import { JobVariablesError } from '../record/running-job.ts'
import { newWarnings } from '../record/warnings.ts'

/** Environment variables by name, as a process has them. */
export type Variables = Readonly<Record<string, string | undefined>>

/** A variable of a running job, and the field of a body of the forge with the same value. */
export interface VariableRow {
  readonly variable: string
  /** The path of the field, such as `workflow.id`. */
  readonly field: string
  /** `id`: an integer from 1, read as a text of digits. `count`: an integer from 0, read as a number. */
  readonly kind: 'id' | 'count' | 'text' | 'url'
  readonly required?: true
  /** Returns the value that the field has; `undefined` if the variable has a word for none. Default: the value of the variable. */
  readonly toField?: (value: string) => unknown
}

/** Fields by name, with objects of fields among them. */
export interface FieldTree {
  [key: string]: unknown
}

/** The variable with which a pipeline passes the id of the root of its trace to the pipelines that it starts. */
export const rootVariable = 'PENSTOCK_ROOT_PIPELINE_ID'

/** The time of receipt, which a record needs. The ids and attributes of a trace context do not depend on it. */
export const anyTimeNs = 1n

/** The longest value that is read, in UTF-8; real values are far shorter. */
const maxVariableBytes = 4_096

/**
 * Returns the fields that the variables have values for. Readers of bodies then read them, so that variables and bodies are
 * normalised in the same way.
 *
 * @throws {JobVariablesError} if required variables are missing, or a variable is invalid
 */
export function arrangeVariables(variables: Variables, rows: readonly VariableRow[]): FieldTree {
  const missing = rows.filter(({ required, variable }) => required && !variables[variable])
  if (missing.length > 0) throw new JobVariablesError(`${listNames(missing)} not set; this works inside a CI job only`)
  const tree: FieldTree = {}
  for (const { variable, field, kind, toField } of rows) {
    const value = readVariable(variables, variable, kind)
    const converted = value !== undefined && typeof value === 'string' && toField ? toField(value) : value
    if (converted !== undefined) setField(tree, field.split('.'), converted)
  }
  return tree
}

/** Returns the names with their verb, such as `A and B are`. */
function listNames(rows: readonly VariableRow[]): string {
  const names = rows.map(({ variable }) => variable)
  const last = names.pop()
  return names.length === 0 ? `${last} is` : `${names.join(', ')} and ${last} are`
}

/** Returns an object of a tree; an empty one if it has no fields. */
export const subtree = (tree: FieldTree, key: string): FieldTree => (tree[key] as FieldTree | undefined) ?? {}

export const treeFields = (tree: FieldTree): Fields => bodyFields(tree, newWarnings())

/** Returns a variable's value; `undefined` if it is missing or empty. */
function readVariable(variables: Variables, name: string, kind: VariableRow['kind']): string | number | undefined {
  const value = variables[name]
  if (value === undefined || value === '') return undefined
  validateText(name, value)
  if (kind === 'id') validateId(name, value)
  if (kind === 'url') validateUrl(name, value)
  return kind === 'count' ? readCount(name, value) : value
}

/**
 * Returns the id of a job: of the variable if it is set, else the one that the user names; `undefined` if there is neither.
 *
 * @throws {JobVariablesError} if both are there, or the id is invalid
 */
export function chooseJobId(variables: Variables, name: string, given: string | undefined): string | undefined {
  if (given === undefined) return variables[name] || undefined
  if (variables[name]) throw new JobVariablesError(`the variable ${name} has the job id; do not give another one`)
  validateText('job id', given)
  return given
}

/** Returns the id of a pipeline in a text: an integer for digits, else the text. @throws {JobVariablesError} */
export function parseTextId(name: string, value: string): RunId {
  validateText(name, value)
  return idPattern.test(value) && BigInt(value) <= MAX_INTEGER ? BigInt(value) : value
}

/** Returns the id of a pipeline on a forge with numbers as ids. @throws {JobVariablesError} */
export function parseIntegerId(name: string, value: string): bigint {
  validateText(name, value)
  validateId(name, value)
  return BigInt(value)
}

function validateText(name: string, value: string): void {
  if (Buffer.byteLength(value) > maxVariableBytes)
    throw new JobVariablesError(`${name}: must have at most ${maxVariableBytes} bytes`)
  if (/[\p{Cc}\u2028\u2029]/u.test(value))
    throw new JobVariablesError(`${name}: must be one line without control characters`)
}

/** Matches ids of up to 19 digits, the length of the largest id that OTLP can carry. */
const idPattern = /^[1-9]\d{0,18}$/

function validateId(name: string, value: string): void {
  if (idPattern.test(value) && BigInt(value) <= MAX_INTEGER) return
  throw new JobVariablesError(`${name}: must be an integer from 1 to ${MAX_INTEGER}, got ${quoted(value)}`)
}

function readCount(name: string, value: string): number {
  if (/^\d{1,15}$/.test(value)) return Number(value)
  throw new JobVariablesError(`${name}: must be an integer, 0 or above, got ${quoted(value)}`)
}

/** Validates a URL. The message does not repeat the value, because a URL may contain a password. */
function validateUrl(name: string, value: string): void {
  if (!/^https?:\/\//i.test(value) || !URL.canParse(value))
    throw new JobVariablesError(`${name}: must be an http or https URL`)
}

function setField(tree: FieldTree, path: readonly string[], value: unknown): void {
  const [first = '', ...rest] = path
  if (rest.length === 0) {
    tree[first] = value
    return
  }
  tree[first] ??= {}
  setField(tree[first] as FieldTree, rest, value)
}
