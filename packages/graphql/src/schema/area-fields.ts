import {
  type BatchQuery,
  clientNameOf,
  type FieldTable,
  type FieldType,
  type InputSchema,
  type SizedDescription,
  type Subject,
} from '@penstock/core'
import type { FieldRef } from '@pothos/core'
import { descriptionHtmlOf, descriptionOf } from '../request/descriptions.ts'
import { loadBatched, type RequestContext } from '../request/request-context.ts'
import type { Kit } from './kit.ts'
import type { AnyFieldsOf, FieldsOf, Types } from './schema-types.ts'

/** Fields of an object type by name. */
type Fields = Record<string, FieldRef<Types, unknown>>

/** Lists and objects are no plain fields. */
const scalarOf: Readonly<Partial<Record<FieldType, 'Int' | 'Float' | 'String' | 'Boolean' | 'Time'>>> = {
  int: 'Int',
  number: 'Float',
  text: 'String',
  flag: 'Boolean',
  time: 'Time',
  day: 'Time',
}

/** Returns a field for each of these rows of a field table. `nullable` is for types that allow null where it never occurs. */
export function plainFields<Source extends object, Table extends FieldTable>(
  t: AnyFieldsOf<Source>,
  table: Table,
  keys: readonly (keyof Table & keyof Source & string)[],
  { nullable = false }: { readonly nullable?: boolean } = {},
): Fields {
  const fields = t as FieldsOf<Source>
  return Object.fromEntries(
    keys.map((key) => {
      const { details } = table[key]!
      const options = {
        type: scalarOf[details.type],
        nullable: nullable || details.isOptional === true,
        resolve: (source: Source) => source[key],
      }
      // The type of a row's value follows from the table, so Pothos cannot compare it with the scalar.
      return [clientNameOf(key, table[key]!), fields.field(options as never)]
    }),
  )
}

type TextField = FieldRef<Types, string | null | undefined>
type DescriptionQuery<Source> = BatchQuery<InputSchema, Source, SizedDescription | undefined>

/** Returns the field `description`, which is read together with others and counts against the text budget. */
export const descriptionField = <Source>(t: FieldsOf<Source>, query: DescriptionQuery<Source>): TextField =>
  t.string({
    resolve: async (source, _args, context, info) =>
      (await descriptionOf(query, source as Source, context, info))?.description,
  })

export const descriptionHtmlField = <Source>(t: FieldsOf<Source>, query: DescriptionQuery<Source>): TextField =>
  t.string({
    resolve: (source, _args, context, info) => descriptionHtmlOf(query, source as Source, context, info),
  })

/** Returns the fields `group` and `project`, of which at most one is set, for something that belongs to either. */
export function parentFields<Source>(
  t: FieldsOf<Source>,
  query: BatchQuery<InputSchema, Source, Subject | undefined>,
): Fields {
  const parentOf = (source: Source, context: RequestContext) => loadBatched(context, query, source)
  return {
    group: t.field({
      type: 'Group',
      resolve: async (source, _args, context) => {
        const parent = await parentOf(source as Source, context)
        return parent?.kind === 'group' ? parent : null
      },
    }),
    project: t.field({
      type: 'Project',
      resolve: async (source, _args, context) => {
        const parent = await parentOf(source as Source, context)
        return parent?.kind === 'project' ? parent : null
      },
    }),
  }
}

/** Adds the same fields to groups and to projects. */
export function addToGroupsAndProjects({ builder }: Kit, fields: (t: FieldsOf<Subject>) => Fields): void {
  builder.objectFields('Group', fields)
  builder.objectFields('Project', fields)
}
