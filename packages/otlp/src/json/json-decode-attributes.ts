import { refuse, within } from '../bytes/decode-error.ts'
import type { DecodeBudget } from '../bytes/decode-limits.ts'
import type { AnyValue, KeyValue } from '../model/types.ts'
import { scalarKinds } from '../schema/scalar-kinds.ts'
import { anyValueArms, keyValueFields, valuesField } from '../schema/schema.ts'
import { arrayFromJson, type JsonObject, objectFromJson } from './json-containers.ts'

type ArmType = keyof typeof anyValueArms
const typesByName = new Map<string, ArmType>()
for (const type of Object.keys(anyValueArms) as ArmType[]) typesByName.set(anyValueArms[type].json, type)

const EMPTY: AnyValue = { type: 'empty', value: undefined }

/** Reads an attribute. `depth` is the depth of its AnyValue, 1 for an attribute of an item. */
export function attributeFromJson(json: unknown, budget: DecodeBudget, depth: number): KeyValue {
  const object = objectFromJson(json)
  const key = memberOf(object, keyValueFields.key.json, scalarKinds.string.fromJson) ?? ''
  const any = memberOf(object, keyValueFields.value.json, (value) => anyValueFromJson(value, budget, depth)) ?? EMPTY
  return { key, type: any.type, value: any.value } as KeyValue
}

/** Reads an AnyValue. `depth` is the number of AnyValues around it, including itself. */
export function anyValueFromJson(json: unknown, budget: DecodeBudget, depth: number): AnyValue {
  budget.enter(depth)
  const object = objectFromJson(json)
  let found: AnyValue | undefined
  for (const name of Object.keys(object)) {
    const type = typesByName.get(name)
    if (type === undefined || object[name] === null) continue
    if (found !== undefined) refuse('has more than one value')
    found = { type, value: memberOf(object, name, (value) => armValue(type, value, budget, depth)) } as AnyValue
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
      return scalarKinds.bytes.fromJson(json)
    case 'array':
      return values(json, budget, (value) => anyValueFromJson(value, budget, depth + 1))
    case 'kvlist':
      return values(json, budget, (value) => attributeFromJson(value, budget, depth + 1))
  }
}

function values<T>(json: unknown, budget: DecodeBudget, fromJson: (json: unknown) => T): T[] {
  return memberOf(objectFromJson(json), valuesField.json, (list) => arrayFromJson(list, budget, fromJson)) ?? []
}

/** Reads a member of an object; `undefined` if it is absent or null. */
function memberOf<T>(object: JsonObject, name: string, fromJson: (json: unknown) => T): T | undefined {
  const json = object[name]
  if (json === undefined || json === null) return undefined
  try {
    return fromJson(json)
  } catch (error) {
    throw within(error, name)
  }
}
