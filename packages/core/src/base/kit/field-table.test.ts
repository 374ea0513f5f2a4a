import { expect, test } from 'vitest'
import { z } from 'zod'
import type { DomainError } from './domain-error.ts'
import {
  changesOf,
  clientNameOf,
  columnsOf,
  day,
  flag,
  fromRow,
  id,
  int,
  list,
  matches,
  maxCharacters,
  maxLength,
  newObject,
  notBlank,
  number,
  object,
  oneOf,
  parametersOf,
  text,
  time,
  toRow,
  validate,
  withInput,
} from './field-table.ts'

const draft = {
  title: text('title').check(notBlank, maxLength(5)),
  kind: oneOf('thing_kind', ['plain', 'rare']).as('thingKind'),
  isOpen: flag('is_open').as('open').default(true),
  weight: int('weight').optional(),
  dueDate: day('due_date').optional(),
  note: text('note').check(maxCharacters(2), matches(/^a/)).optional(),
}
const fields = { id: id(), ...draft, createdAtMs: time('created_at_ms') }

const row = {
  id: 7,
  title: 'Seeds',
  thing_kind: 'rare',
  is_open: 0,
  weight: null,
  due_date: '2026-02-03',
  note: null,
  created_at_ms: 5,
} as const
const thing = {
  id: 7,
  title: 'Seeds',
  kind: 'rare',
  isOpen: false,
  weight: undefined,
  dueDate: '2026-02-03',
  note: undefined,
  createdAtMs: 5,
} as const

test('converts rows to objects and back', () => {
  expect(columnsOf(fields)).toEqual(Object.keys(row))
  expect(fromRow(fields, row)).toEqual(thing)
  expect(toRow(fields, thing)).toEqual(row)
})

test('stores lists and objects as JSON, and numbers with their fraction', () => {
  const rich = {
    factor: number('factor').default(1),
    tags: list('tags', z.string()),
    rule: object('rule', z.object({ level: z.int() }), { level: 40 }),
  }
  expect(newObject(rich, {})).toEqual({ factor: 1, tags: [], rule: { level: 40 } })
  const whole = { factor: 0.5, tags: ['a', 'b'], rule: { level: 30 } }
  const stored = { factor: 0.5, tags: '["a","b"]', rule: '{"level":30}' }
  expect(toRow(rich, whole)).toEqual(stored)
  expect(fromRow(rich, stored)).toEqual(whole)
})

test('names fields for clients', () => {
  const names = Object.entries(fields).map(([key, field]) => clientNameOf(key, field))
  expect(names).toEqual(['id', 'title', 'thingKind', 'open', 'weight', 'dueDate', 'note', 'createdAt'])
})

test('a new object has the values of the input, or else the defaults', () => {
  expect(newObject(draft, { title: 'Sow', weight: null })).toEqual({
    title: 'Sow',
    kind: 'plain',
    isOpen: true,
    weight: undefined,
    dueDate: undefined,
    note: undefined,
  })
})

test('an absent parameter keeps a value, null clears it if it is optional', () => {
  expect(withInput(draft, thing, { title: null, open: true, dueDate: null, weight: 0 })).toEqual({
    ...thing,
    isOpen: true,
    dueDate: undefined,
    weight: 0,
  })
})

const failures = (object: typeof draftObject, others = {}) => {
  try {
    validate(draft, object, others)
    return undefined
  } catch (error) {
    return (error as DomainError).failure
  }
}
const draftObject = newObject(draft, { title: 'Sow' })

test('reports every broken rule in the order of the rows, and does not check missing values', () => {
  expect(failures(draftObject)).toBeUndefined()
  expect(failures({ ...draftObject, title: '', note: 'bcd' }, { title: ['is odd'], dueDate: ['is past'] })).toEqual({
    code: 'invalid',
    fields: {
      title: ["can't be blank", 'is odd'],
      dueDate: ['is past'],
      note: ['is too long (maximum is 2 characters)', 'is invalid'],
    },
  })
})

test('counts characters or UTF-16 units', () => {
  expect(failures({ ...draftObject, note: 'a🌱' })).toBeUndefined()
  expect(failures({ ...draftObject, title: '🌱🌱🌱' })).toMatchObject({
    fields: { title: ['is too long (maximum is 5 characters)'] },
  })
})

test('a parameter is required to create, unless it is optional or has a default, and never to change', () => {
  const problems = (schema: z.ZodType, input: object) =>
    schema.safeParse(input).error?.issues.map(({ path }) => path.join('.')) ?? []
  const create = z.object(parametersOf(draft))
  expect(problems(create, {})).toEqual(['title', 'thingKind'])
  expect(problems(z.object(changesOf(draft)), {})).toEqual([])
  expect(problems(z.object(changesOf(draft)), { open: null, weight: null })).toEqual(['open'])
  expect(problems(z.object(changesOf(draft, 'nullish')), { open: null, weight: null })).toEqual([])
  const parsed = create.parse({ title: 'Sow', thingKind: 'rare', note: '', weight: null })
  expect(parsed).toEqual({ title: 'Sow', thingKind: 'rare', open: true, note: null, weight: null })
})

test('rejects a schema with a default, which every update would set', () => {
  expect(() => flag('pinned').parse(z.boolean().default(false))).toThrow(
    new TypeError('The schema of pinned has a default: set it with default()'),
  )
})
