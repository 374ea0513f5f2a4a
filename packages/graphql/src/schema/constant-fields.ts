import type { FieldRef } from '@pothos/core'
import type { AnyFieldsOf, FieldsOf, Types } from './schema-types.ts'

type Field = FieldRef<Types, unknown>
type ConstantFields = Readonly<Record<'nullText' | 'nullTime' | 'alwaysFalse' | 'alwaysZero', () => Field>> & {
  readonly always: (value: boolean) => Field
  readonly nullTexts: (names: readonly string[]) => Record<string, Field>
}

/** Returns builders of fields with a constant value, for features and settings that this service does not have. */
export function constantFields<Parent>(fields: AnyFieldsOf<Parent>): ConstantFields {
  const t = fields as FieldsOf<Parent>
  return {
    nullText: () => t.string({ resolve: () => null }),
    nullTime: () => t.field({ type: 'Time', resolve: () => null }),
    alwaysFalse: () => t.boolean({ nullable: false, resolve: () => false }),
    alwaysZero: () => t.int({ nullable: false, resolve: () => 0 }),
    nullTexts: (names) => Object.fromEntries(names.map((name) => [name, t.string({ resolve: () => null })])),
    always: (value) => t.boolean({ resolve: () => value }),
  }
}
