import { findGeoNodeByName, geoNodeFields, listGroupsOfGeoNode, type ShownGeoNode } from '@penstock/core'
import { readOrNull } from '../request/request-context.ts'
import { plainFields } from '../schema/area-fields.ts'
import { connectionField } from '../schema/connection-field.ts'
import { lookup, withCost } from '../schema/cost.ts'
import type { Kit } from '../schema/kit.ts'
import { listed } from '../schema/listed.ts'

declare module '../schema/schema-types.ts' {
  interface ObjectSources {
    GeoNode: ShownGeoNode
  }
}

/** The fields that have the name and the value of a field of the table. */
const plain = [
  'name',
  'url',
  'primary',
  'enabled',
  'filesMaxCapacity',
  'reposMaxCapacity',
  'verificationMaxCapacity',
  'containerRepositoriesMaxCapacity',
  'minimumReverificationInterval',
  'syncObjectStorage',
  'selectiveSyncType',
] as const

/** Adds the Geo node of this service and those with a name, for administrators. Nodes are changed through REST only. */
export function addGeoNodes(kit: Kit): void {
  const { builder, globalIds } = kit

  builder.objectType('GeoNode', {
    description: 'Replication site; administrators only',
    fields: (t) => ({
      id: t.id({ nullable: false, resolve: ({ id }) => globalIds.of('GeoNode', id) }),
      ...plainFields(t, geoNodeFields, plain, { nullable: true }),
      internalUrl: t.string({ resolve: ({ url, internalUrl }) => internalUrl ?? url }),
      selectiveSyncShards: t.stringList({ resolve: ({ selectiveSyncShards }) => [...selectiveSyncShards] }),
      selectiveSyncNamespaces: connectionField(kit, t, 'Namespace', {
        list: async ({ id }, _args, context) => {
          const groups = await readOrNull(context, listGroupsOfGeoNode, { geoNodeId: id })
          return groups && listed(groups.map((group) => ({ group })))
        },
      }),
    }),
  })

  builder.queryField('geoNode', (t) =>
    t.field({
      type: 'GeoNode',
      description: 'The site with this name, or else the one that answers',
      ...withCost(lookup),
      args: { name: t.arg.string() },
      resolve: (_root, { name }, context) => readOrNull(context, findGeoNodeByName, name == null ? {} : { name }),
    }),
  )
}
