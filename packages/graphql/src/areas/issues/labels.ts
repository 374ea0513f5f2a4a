import {
  descriptionsOfEachLabel,
  findLabelOfEach,
  groupLabels,
  labelFields,
  listLabelsOfEach,
  projectLabels,
  type Subject,
  textColorOn,
} from '@penstock/core'
import type { InputShapeFromFields } from '@pothos/core'
import { GraphQLError } from 'graphql'
import { loadBatched, performIn, type RequestContext } from '../../request/request-context.ts'
import {
  addToGroupsAndProjects,
  descriptionField,
  descriptionHtmlField,
  plainFields,
} from '../../schema/area-fields.ts'
import { connectionField } from '../../schema/connection-field.ts'
import { lookup } from '../../schema/cost.ts'
import type { Kit } from '../../schema/kit.ts'
import { mutation } from '../../schema/mutation.ts'
import { omitNullish } from '../../schema/omit-nullish.ts'
import type { ArgumentsMaker } from '../../schema/schema-types.ts'

export function addLabels(kit: Kit): void {
  const { builder, connections, globalIds } = kit

  builder.objectType('Label', {
    description: 'Label of a project or group',
    fields: (t) => ({
      ...plainFields(t, labelFields, ['color', 'createdAtMs']),
      id: t.field({
        type: 'LabelID',
        nullable: false,
        resolve: ({ id, groupId }) => globalIds.of(groupId === undefined ? 'ProjectLabel' : 'GroupLabel', id),
      }),
      title: t.exposeString('name', { nullable: false }),
      description: descriptionField(t, descriptionsOfEachLabel),
      descriptionHtml: descriptionHtmlField(t, descriptionsOfEachLabel),
      textColor: t.string({ nullable: false, resolve: ({ color }) => textColorOn(color) }),
      archived: t.boolean({ nullable: false, resolve: () => false }),
      lockOnMerge: t.boolean({ nullable: false, resolve: () => false }),
      updatedAt: t.field({
        type: 'Time',
        nullable: false,
        description: 'Equal to createdAt: changes are not recorded',
        resolve: ({ createdAtMs }) => createdAtMs,
      }),
    }),
  })
  connections.count('Label', 'exact')

  const searchIn = builder.enumType('LabelSearchFieldList', {
    values: { DESCRIPTION: { value: 'description' }, TITLE: { value: 'name' } } as const,
  })
  const listArguments = (t: ArgumentsMaker) => ({
    title: t.arg.string(),
    searchTerm: t.arg.string(),
    searchIn: t.arg({ type: [searchIn], required: true, defaultValue: ['name', 'description'] }),
    includeAncestorGroups: t.arg.boolean({ defaultValue: false }),
    archived: t.arg.boolean({ defaultValue: false }),
  })
  const groupArguments = (t: ArgumentsMaker) => ({
    includeDescendantGroups: t.arg.boolean({ defaultValue: false }),
    onlyGroupLabels: t.arg.boolean({ defaultValue: false, description: 'Without those of its projects' }),
  })
  type Arguments = InputShapeFromFields<ReturnType<typeof listArguments>> &
    Partial<InputShapeFromFields<ReturnType<typeof groupArguments>>>
  const list = (parent: Subject, { searchTerm: search, ...same }: Arguments, context: RequestContext) =>
    loadBatched(context, listLabelsOfEach, parent, omitNullish({ ...same, search }))

  addToGroupsAndProjects(kit, (t) => ({
    label: t.field({
      type: 'Label',
      args: { title: t.arg.string({ required: true }) },
      resolve: (parent, { title }, context) => loadBatched(context, findLabelOfEach, parent, { title }),
    }),
  }))
  builder.objectFields('Project', (t) => ({
    labels: connectionField(kit, t, 'Label', { cost: lookup, args: listArguments(t), list }),
  }))
  builder.objectFields('Group', (t) => ({
    labels: connectionField(kit, t, 'Label', {
      cost: lookup,
      args: { ...listArguments(t), ...groupArguments(t) },
      list,
    }),
  }))

  mutation(kit, 'labelCreate', {
    description: 'Creates a label of a project or of a group',
    input: (t) => ({
      projectPath: t.id(),
      groupPath: t.id(),
      title: t.string({ required: true }),
      description: t.string(),
      color: t.string({ defaultValue: '#6699cc', description: 'A hexadecimal color, or the name of a CSS color' }),
    }),
    run: async ({ projectPath, groupPath, title: name, color, description }, context) => {
      const parent = projectPath ?? groupPath
      if (parent == null || (projectPath != null && groupPath != null)) {
        throw new GraphQLError('Exactly one of groupPath or projectPath arguments is required')
      }
      const { create } = projectPath == null ? groupLabels : projectLabels
      const input = { parent, name, ...omitNullish({ color, description }) }
      return { label: await performIn(context, create, input) }
    },
    payload: (t) => ({ label: t.field({ type: 'Label', resolve: ({ label }) => label }) }),
  })
}
