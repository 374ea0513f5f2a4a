import {
  descriptionsOfEachLabel,
  findLabelOfEach,
  listLabelsOfEachGroup,
  listLabelsOfEachProject,
  textColorOn,
} from '@penstock/core'
import { descriptionHtmlOf, descriptionOf } from '../../request/descriptions.ts'
import { loadBatched } from '../../request/request-context.ts'
import { connectionField } from '../../schema/connection-field.ts'
import type { Kit } from '../../schema/kit.ts'
import { omitNullish } from '../../schema/omit-nullish.ts'
import type { ArgumentsMaker } from '../../schema/schema-types.ts'

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
      description: t.string({
        resolve: async (source, _args, context, info) =>
          (await descriptionOf(descriptionsOfEachLabel, source, context, info))?.description,
      }),
      descriptionHtml: t.string({
        resolve: (source, _args, context, info) => descriptionHtmlOf(descriptionsOfEachLabel, source, context, info),
      }),
      color: t.exposeString('color', { nullable: false }),
      textColor: t.string({ nullable: false, resolve: ({ color }) => textColorOn(color) }),
      archived: t.boolean({ nullable: false, resolve: () => false }),
      lockOnMerge: t.boolean({ nullable: false, resolve: () => false }),
      createdAt: t.field({ type: 'Time', nullable: false, resolve: ({ createdAtMs }) => createdAtMs }),
      updatedAt: t.field({
        type: 'Time',
        nullable: false,
        description: 'Equal to createdAt: changes are not recorded',
        resolve: ({ createdAtMs }) => createdAtMs,
      }),
    }),
  })

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

  builder.objectFields('Project', (t) => ({
    label: t.field({
      type: 'Label',
      args: { title: t.arg.string({ required: true }) },
      resolve: (project, { title }, context) => loadBatched(context, findLabelOfEach, project, { title }),
    }),
    labels: connectionField(kit, t, 'Label', {
      args: listArguments(t),
      list: (project, args, context) => loadBatched(context, listLabelsOfEachProject, project, inputOf(args)),
    }),
  }))
  builder.objectFields('Group', (t) => ({
    label: t.field({
      type: 'Label',
      args: { title: t.arg.string({ required: true }) },
      resolve: (group, { title }, context) => loadBatched(context, findLabelOfEach, group, { title }),
    }),
    labels: connectionField(kit, t, 'Label', {
      args: {
        ...listArguments(t),
        includeDescendantGroups: t.arg.boolean({ defaultValue: false }),
        onlyGroupLabels: t.arg.boolean({ defaultValue: false, description: 'Without those of its projects' }),
      },
      list: (group, { includeDescendantGroups, onlyGroupLabels, ...args }, context) => {
        const input = { ...inputOf(args), ...omitNullish({ includeDescendantGroups, onlyGroupLabels }) }
        return loadBatched(context, listLabelsOfEachGroup, group, input)
      },
    }),
  }))
}

interface LabelArguments {
  readonly title?: string | null | undefined
  readonly searchTerm?: string | null | undefined
  readonly searchIn: readonly ('name' | 'description')[]
  readonly includeAncestorGroups?: boolean | null | undefined
  readonly archived?: boolean | null | undefined
}

const inputOf = ({ searchTerm, ...same }: LabelArguments) => omitNullish({ ...same, search: searchTerm })
