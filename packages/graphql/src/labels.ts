import { groupLabels, projectLabels } from '@penstock/core'
import { connectionField, type Kit, listOf } from './kit.ts'
import type { FieldsOf } from './schema-types.ts'

/** @see spec/graphql-contract.md 5.4 */
export function addLabels(kit: Kit): void {
  const { builder, globalIds } = kit

  builder.objectType('Label', {
    description: 'Label of a project or group',
    fields: (t) => ({
      id: t.field({
        type: 'LabelID',
        nullable: false,
        resolve: ({ id, groupId }) => globalIds.of(groupId === undefined ? 'ProjectLabel' : 'GroupLabel', id),
      }),
      title: t.string({ nullable: false, resolve: ({ name }) => name }),
      description: t.exposeString('description'),
      color: t.exposeString('color', { nullable: false }),
    }),
  })

  const searchIn = builder.enumType('LabelSearchFieldList', {
    values: { DESCRIPTION: { value: 'description' }, TITLE: { value: 'name' } } as const,
  })
  const listArguments = <Parent>(t: FieldsOf<Parent>) => ({
    title: t.arg.string(),
    searchTerm: t.arg.string(),
    searchIn: t.arg({ type: [searchIn], required: true, defaultValue: ['name', 'description'] }),
    includeAncestorGroups: t.arg.boolean({ defaultValue: false }),
    archived: t.arg.boolean({ defaultValue: false }),
  })

  builder.objectFields('Project', (t) => ({
    labels: connectionField(kit, t, 'Label', {
      args: listArguments(t),
      list: (project, args, context) => listOf(projectLabels.listEach)(project, inputOf(args), context),
    }),
  }))
  builder.objectFields('Group', (t) => ({
    labels: connectionField(kit, t, 'Label', {
      args: listArguments(t),
      list: (group, args, context) => listOf(groupLabels.listEach)(group, inputOf(args), context),
    }),
  }))
}

interface LabelArguments {
  readonly title?: string | null | undefined
  readonly searchTerm?: string | null | undefined
  readonly searchIn: readonly ('name' | 'description')[]
  readonly includeAncestorGroups?: boolean | null | undefined
}

const inputOf = ({ title, searchTerm, searchIn, includeAncestorGroups }: LabelArguments) => ({
  title: title ?? undefined,
  search: searchTerm ?? undefined,
  searchIn,
  includeAncestorGroups: includeAncestorGroups ?? undefined,
})
