import {
  groupVariables,
  type InheritedVariable,
  listInheritedVariablesOfEach,
  listInstanceVariables,
  maxVariables,
  projectVariables,
  type ShownVariable,
} from '@penstock/core'
import { loadBatched, readOrNull } from '../../request/request-context.ts'
import { connectionField } from '../../schema/connection-field.ts'
import { orderIn } from '../../schema/enums.ts'
import type { Kit } from '../../schema/kit.ts'
import type { FieldsOf } from '../../schema/schema-types.ts'
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
      args: { sort: t.arg({ type: sort }) },
      list: (project, { sort: order }, context) =>
        loadBatched(context, projectVariables.listEach, project, orderIn(order)),
    }),
    inheritedCiVariables: connectionField(kit, t, 'InheritedCiVariable', {
      args: { sort: t.arg({ type: groupSort, defaultValue: 'id desc' }) },
      list: (project, { sort: order }, context) =>
        loadBatched(context, listInheritedVariablesOfEach, project, orderIn(order ?? 'id desc')),
    }),
  }))
  builder.objectFields('Group', (t) => ({
    ciVariables: connectionField(kit, t, 'CiGroupVariable', {
      args: { sort: t.arg({ type: sort }) },
      list: (group, { sort: order }, context) => loadBatched(context, groupVariables.listEach, group, orderIn(order)),
    }),
  }))
  builder.queryField('ciVariables', (t) =>
    connectionField(kit, t, 'CiInstanceVariable', {
      description: 'Variables of the instance; always empty, and null for non-administrators',
      args: { sort: t.arg({ type: sort }) },
      list: (_root, _args, context) => readOrNull(context, listInstanceVariables, {}),
    }),
  )
}

function addVariableTypes(kit: Kit): void {
  const { builder, globalIds, web } = kit
  const { variableType } = ciEnums(kit)

  builder.interfaceType('CiVariable', {
    fields: (t) => ({
      id: t.id({ nullable: false, resolve: ({ id }) => globalIds.of('Ci::Variable', id) }),
      key: t.exposeString('key'),
      value: t.string({ description: 'Null if the variable is hidden', resolve: ({ value }) => value }),
      raw: t.boolean({ resolve: ({ isRaw }) => isRaw }),
      variableType: t.field({ type: variableType, resolve: ({ type }) => type }),
    }),
  })

  const describing = <Source extends Omit<ShownVariable, 'value'>>(t: FieldsOf<Source>) => ({
    description: t.string({ resolve: ({ description }: Source) => description }),
    environmentScope: t.string({ resolve: ({ environmentScope }: Source) => environmentScope }),
    protected: t.boolean({ resolve: ({ isProtected }: Source) => isProtected }),
    masked: t.boolean({ resolve: ({ isMasked }: Source) => isMasked }),
    hidden: t.boolean({ resolve: ({ isHidden }: Source) => isHidden }),
  })
  const models = {
    CiProjectVariable: 'Ci::Variable',
    CiGroupVariable: 'Ci::GroupVariable',
    CiInstanceVariable: 'Ci::InstanceVariable',
  } as const
  for (const [name, model] of Object.entries(models)) {
    builder.objectType(name as keyof typeof models, {
      interfaces: ['CiVariable'],
      fields: (t) => ({
        id: t.id({ nullable: false, resolve: ({ id }) => globalIds.of(model, id) }),
        ...describing(t),
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
      key: t.exposeString('key'),
      raw: t.boolean({ resolve: ({ isRaw }) => isRaw }),
      variableType: t.field({ type: variableType, resolve: ({ type }) => type }),
      ...describing(t),
      groupName: t.exposeString('groupName'),
      groupCiCdSettingsPath: t.string({
        resolve: ({ groupFullPath }) => web.path(`groups/${groupFullPath}/-/settings/ci_cd`),
      }),
    }),
  })
}
