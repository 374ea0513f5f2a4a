import {
  createGeoNode,
  getGeoNodeById,
  getGeoNodeStatus,
  listGeoNodeFailures,
  listGeoNodeStatuses,
  listGeoNodes,
  removeGeoNode,
  repairGeoNode,
  updateGeoNodeSettings,
} from '@penstock/core'
import { z } from 'zod'
import { type Area, type RestRoute, route, type Shape } from '../routing/route.ts'
import { orderedList as parameters } from './parameters/lists.ts'
import { type GeoNoun, geoShapes } from './shapes/geo-node-shapes.ts'

const names = { geoNodeId: 'id' } as const

const failureShape: Shape<never> = { schema: z.object({}).meta({ id: 'GeoNodeFailure' }), of: (failure) => failure }

function routesOf(noun: GeoNoun): RestRoute[] {
  const shapes = geoShapes(noun)
  const all = `/geo_${noun}s`
  const one = `${all}/:id`
  const isDeprecated = noun === 'node'
  // The paths that end in a word come before those that end in an id.
  const statuses = ['status', 'statuses'].map((word) =>
    route({
      method: 'GET',
      path: `${all}/${word}`,
      operation: listGeoNodeStatuses,
      parameters,
      summary: `List the statuses of Geo ${noun}s. Only the primary reports one.`,
      shape: shapes.status,
      isDeprecated,
    }),
  )
  return [
    ...statuses,
    route({
      method: 'GET',
      path: `${all}/current/failures`,
      operation: listGeoNodeFailures,
      parameters,
      summary: `List the failures of the current Geo ${noun}. There are none, because this service replicates nothing.`,
      shape: failureShape,
      isDeprecated,
    }),
    route({
      method: 'GET',
      path: all,
      operation: listGeoNodes,
      parameters,
      summary: `List the Geo ${noun}s.`,
      shape: shapes.node,
      isDeprecated,
    }),
    route({
      method: 'POST',
      path: all,
      operation: createGeoNode,
      summary: `Create a Geo ${noun}. A secondary gets an OAuth application.`,
      shape: shapes.node,
      isDeprecated,
    }),
    route({
      method: 'GET',
      path: one,
      operation: getGeoNodeById,
      summary: `Get a Geo ${noun}.`,
      shape: shapes.node,
      names,
      isDeprecated,
    }),
    route({
      method: 'PUT',
      path: one,
      operation: updateGeoNodeSettings,
      summary: `Change a Geo ${noun}.`,
      shape: shapes.node,
      names,
      isDeprecated,
    }),
    route({
      method: 'DELETE',
      path: one,
      operation: removeGeoNode,
      summary: `Delete a Geo ${noun} with its OAuth application.`,
      names,
      isDeprecated,
    }),
    route({
      method: 'POST',
      path: `${one}/repair`,
      operation: repairGeoNode,
      status: 200,
      summary: `Recreate the OAuth applications that secondaries have lost. Only the primary Geo ${noun} can be repaired.`,
      shape: shapes.repaired,
      names,
      isDeprecated,
    }),
    route({
      method: 'GET',
      path: `${one}/status`,
      operation: getGeoNodeStatus,
      summary: `Get the status of the primary Geo ${noun}. A secondary has none.`,
      shape: shapes.status,
      names,
      isDeprecated,
    }),
  ]
}

/** Geo nodes, and the same as Geo sites, which replace them. */
export const geoNodesArea: Area = { tag: 'Geo nodes', routes: [...routesOf('node'), ...routesOf('site')] }
