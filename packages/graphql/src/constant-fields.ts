import type { FieldRef } from '@pothos/core'
import type { AnyFieldsOf, FieldsOf, Types } from './schema-types.ts'

type Field = FieldRef<Types, unknown>
type ConstantFields = Readonly<Record<'noText' | 'noTime' | 'never' | 'none', () => Field>> & {
  readonly is: (value: boolean) => Field
}

/** Fields that say the same of every object: of what nobody can do here, what nobody keeps, and what cannot be set. */
export function constantFields<Parent>(fields: AnyFieldsOf<Parent>): ConstantFields {
  const t = fields as FieldsOf<Parent>
  return {
    noText: () => t.string({ resolve: () => null }),
    noTime: () => t.field({ type: 'Time', resolve: () => null }),
    never: () => t.boolean({ nullable: false, resolve: () => false }),
    none: () => t.int({ nullable: false, resolve: () => 0 }),
    is: (value) => t.boolean({ resolve: () => value }),
  }
}
