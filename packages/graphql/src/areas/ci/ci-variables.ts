import {
  groupVariables,
  type InheritedVariable,
  listInheritedVariablesOfEach,
  listInstanceVariables,
  maxVariables,
  projectVariables,
  type ShownVariable,
  variableFields,
} from '@penstock/core'
import { loadBatched, readOrNull } from '../../request/request-context.ts'
import { plainFields } from '../../schema/area-fields.ts'
import { connectionField } from '../../schema/connection-field.ts'
import { lookup } from '../../schema/cost.ts'
import { orderIn } from '../../schema/enums.ts'
import type { Kit } from '../../schema/kit.ts'
import { ciEnums } from './ci-enums.ts'

declare module '../../schema/schema-types.ts' {
  interface ObjectSources {
    CiInstanceVariable: ShownVariable
    CiManualVariable: ShownVariable
    InheritedCiVariable: InheritedVariable
  }
}

/** Adds the fields that list CI variables. Variables are changed through REST only, as on GitLab. */
export function addCiVariables(kit: Kit): void {
  const { builder, connections } = kit
  addVariableTypes(kit)

  const byKey = { KEY_ASC: { value: 'key asc' }, KEY_DESC: { value: 'key desc' } } as const
  const sort = builder.enumType('CiVariableSort', { values: byKey })
  const groupSort = builder.enumType('CiGroupVariablesSort', {
    values: { CREATED_ASC: { value: 'id asc' }, CREATED_DESC: { value: 'id desc' }, ...byKey } as const,
  })

  const limits = { CiProjectVariable: maxVariables.project, CiGroupVariable: maxVariables.group } as const
  for (const [node, limit] of Object.entries(limits)) {
    builder.objectFields(connections.of(node as keyof typeof limits), (t) => ({
      limit: t.int({ nullable: false, description: 'Maximum number of variables', resolve: () => limit }),
    }))
  }

  builder.objectFields('Project', (t) => ({
    ciVariables: connectionField(kit, t, 'CiProjectVariable', {
      cost: lookup,
      args: { sort: t.arg({ type: sort }) },
      list: (project, args, context) => loadBatched(context, projectVariables.listEach, project, orderIn(args.sort)),
    }),
    inheritedCiVariables: connectionField(kit, t, 'InheritedCiVariable', {
      cost: lookup,
      args: { sort: t.arg({ type: groupSort, defaultValue: 'id desc' }) },
      list: (project, { sort: order }, context) =>
        loadBatched(context, listInheritedVariablesOfEach, project, orderIn(order ?? 'id desc')),
    }),
  }))
  builder.objectFields('Group', (t) => ({
    ciVariables: connectionField(kit, t, 'CiGroupVariable', {
      cost: lookup,
      args: { sort: t.arg({ type: sort }) },
      list: (group, args, context) => loadBatched(context, groupVariables.listEach, group, orderIn(args.sort)),
    }),
  }))
  builder.queryField('ciVariables', (t) =>
    connectionField(kit, t, 'CiInstanceVariable', {
      description: 'Variables of the instance; always empty, and null for non-administrators',
      cost: lookup,
      args: { sort: t.arg({ type: sort }) },
      list: (_root, _args, context) => readOrNull(context, listInstanceVariables, {}),
    }),
  )
}

function addVariableTypes(kit: Kit): void {
  const { builder, globalIds, web } = kit
  const { variableType } = ciEnums(kit)
  const nullable = { nullable: true }
  const settings = ['description', 'environmentScope', 'isProtected', 'isMasked', 'isHidden'] as const

  builder.interfaceType('CiVariable', {
    fields: (t) => ({
      id: t.id({ nullable: false, resolve: ({ id }) => globalIds.of('Ci::Variable', id) }),
      ...plainFields(t, variableFields, ['key', 'isRaw'], nullable),
      value: t.string({ description: 'Null if the variable is hidden', resolve: ({ value }) => value }),
      variableType: t.field({ type: variableType, resolve: ({ type }) => type }),
    }),
  })

  for (const [name, model] of [
    ['CiProjectVariable', 'Ci::Variable'],
    ['CiGroupVariable', 'Ci::GroupVariable'],
    ['CiInstanceVariable', 'Ci::InstanceVariable'],
  ] as const) {
    builder.objectType(name, {
      interfaces: ['CiVariable'],
      fields: (t) => ({
        id: t.id({ nullable: false, resolve: ({ id }) => globalIds.of(model, id) }),
        ...plainFields(t, variableFields, settings, nullable),
      }),
    })
  }
  builder.objectType('CiManualVariable', {
    description: 'Variable given when a manual job was played',
    interfaces: ['CiVariable'],
    fields: (t) => ({ environmentScope: t.exposeString('environmentScope') }),
  })
  builder.objectType('InheritedCiVariable', {
    description: 'Variable that a project inherits from an ancestor group; only the group shows its value',
    fields: (t) => ({
      id: t.id({ nullable: false, resolve: ({ id }) => globalIds.of('Ci::GroupVariable', id) }),
      ...plainFields(t, variableFields, ['key', 'isRaw', ...settings], nullable),
      variableType: t.field({ type: variableType, resolve: ({ type }) => type }),
      groupName: t.exposeString('groupName'),
      groupCiCdSettingsPath: t.string({
        resolve: ({ groupFullPath }) => web.path(`groups/${groupFullPath}/-/settings/ci_cd`),
      }),
    }),
  })
}
