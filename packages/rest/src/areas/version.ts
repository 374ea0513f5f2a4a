import { serviceVersion, unscopedQuery } from '@penstock/core'
import { z } from 'zod'
import { type Area, route, type Shape } from '../routing/route.ts'

type Version = typeof serviceVersion

/** Returns the version. It is an operation only so that its permission is checked like any other. */
const readVersion = unscopedQuery({ name: 'readVersion', input: z.object({}) }, async () => serviceVersion)

const versionSchema = z.object({ version: z.string(), revision: z.string() })

const versionShape: Shape<Version> = {
  schema: versionSchema.meta({ id: 'Version' }),
  of: ({ version, revision }) => ({ version, revision }),
}

const metadataShape: Shape<Version> = {
  schema: versionSchema
    .extend({
      kas: z.object({
        enabled: z.boolean(),
        externalUrl: z.string().nullable(),
        externalK8sProxyUrl: z.string().nullable(),
        version: z.string().nullable(),
      }),
      enterprise: z.boolean(),
    })
    .meta({ id: 'Metadata' }),
  of: ({ version, revision }) => ({
    version,
    revision,
    // Penstock has no agent server. GitLab uses camelCase for these names too.
    kas: { enabled: false, externalUrl: null, externalK8sProxyUrl: null, version: null },
    enterprise: true,
  }),
}

export const versionArea: Area = {
  tag: 'Version',
  routes: [
    route({
      method: 'GET',
      path: '/version',
      operation: readVersion,
      summary: 'Get the version.',
      shape: versionShape,
      scopes: ['read_user'],
    }),
    route({
      method: 'GET',
      path: '/metadata',
      operation: readVersion,
      summary: 'Get the version and other metadata of the instance.',
      shape: metadataShape,
      scopes: ['read_user'],
    }),
  ],
}
