import { refuse, within } from './decode-error.ts'
import type { DecodeBudget } from './decode-limits.ts'
import { arrayFromJson, type JsonObject, objectFromJson } from './json-containers.ts'
import { bytesFromJson } from './json-scalars.ts'
import { scalarKinds } from './scalar-kinds.ts'
import { anyValueArms, keyValueFields, valuesField } from './schema.ts'
import type { AnyValue, KeyValue } from './types.ts'

type ArmType = keyof typeof anyValueArms
const armTypes = Object.keys(anyValueArms) as ArmType[]

export function attributeFromJson(json: unknown, budget: DecodeBudget, depth: number): KeyValue {
  const object = objectFromJson(json)
  const key = memberOf(object, keyValueFields.key.json, '', scalarKinds.string.fromJson)
  const any = memberOf(object, keyValueFields.value.json, EMPTY, (value) => anyValueFromJson(value, budget, depth))
  return { key, type: any.type, value: any.value } as KeyValue
}

const EMPTY: AnyValue = { type: 'empty', value: undefined }

function memberOf<T>(object: JsonObject, name: string, absent: T, fromJson: (json: unknown) => T): T {
  const json = object[name]
  if (json === undefined || json === null) return absent
  try {
    return fromJson(json)
  } catch (error) {
    throw within(error, name)
  }
}

/** `depth`: how many AnyValues this one stands in, itself included. */
export function anyValueFromJson(json: unknown, budget: DecodeBudget, depth: number): AnyValue {
  budget.enter(depth)
  const object = objectFromJson(json)
  let found: AnyValue | undefined
  for (const type of armTypes) {
    const name = anyValueArms[type].json
    const member = memberOf(object, name, undefined, (value) => ({ type, value: armValue(type, value, budget, depth) }))
    if (member === undefined) continue
    if (found !== undefined) refuse('has more than one value')
    found = member as AnyValue
  }
  return found ?? { ...EMPTY }
}

function armValue(type: ArmType, json: unknown, budget: DecodeBudget, depth: number): unknown {
  switch (type) {
    case 'string':
      return scalarKinds.string.fromJson(json)
    case 'bool':
      return scalarKinds.bool.fromJson(json)
    case 'int':
      return scalarKinds.int64.fromJson(json)
    case 'double':
      return scalarKinds.double.fromJson(json)
    case 'bytes':
      return bytesFromJson(json)
    case 'array':
      return values(json, budget, (value) => anyValueFromJson(value, budget, depth + 1))
    case 'kvlist':
      return values(json, budget, (value) => attributeFromJson(value, budget, depth + 1))
  }
}

function values<T>(json: unknown, budget: DecodeBudget, fromJson: (json: unknown) => T): T[] {
  return memberOf(objectFromJson(json), valuesField.json, [] as T[], (list) => arrayFromJson(list, budget, fromJson))
}
