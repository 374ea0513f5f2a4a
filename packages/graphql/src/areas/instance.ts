import { getCiApplicationSettings, serviceVersion } from '@penstock/core'
import { readOrNull } from '../request/request-context.ts'
import { lookup, withCost } from '../schema/cost.ts'
import type { Kit } from '../schema/kit.ts'
import { mutation } from '../schema/mutation.ts'

interface InstanceFacts {
  readonly version: string
  readonly revision: string
  readonly enterprise: boolean
}

declare module '../schema/schema-types.ts' {
  interface ObjectSources {
    QueryComplexity: { readonly score: number; readonly limit: number }
    Metadata: InstanceFacts
    CiApplicationSettings: { readonly keepLatestArtifact: boolean }
  }
}

/** Adds facts about the service and the current operation, and the echo test fields. */
export function addInstance(kit: Kit): void {
  const { builder } = kit

  builder.objectType('QueryComplexity', {
    fields: (t) => ({ limit: t.exposeInt('limit'), score: t.exposeInt('score') }),
  })
  builder.objectType('Metadata', {
    description: 'Server facts; null for anonymous callers',
    fields: (t) => ({
      version: t.exposeString('version', { nullable: false }),
      revision: t.exposeString('revision', { nullable: false }),
      enterprise: t.exposeBoolean('enterprise', { nullable: false }),
    }),
  })

  builder.objectType('CiApplicationSettings', {
    description: 'CI part of the instance application settings; readable by administrators',
    fields: (t) => ({ keepLatestArtifact: t.exposeBoolean('keepLatestArtifact') }),
  })

  builder.queryFields((t) => ({
    ciApplicationSettings: t.field({
      type: 'CiApplicationSettings',
      resolve: (_root, _args, context) => readOrNull(context, getCiApplicationSettings, {}),
    }),
    queryComplexity: t.field({
      type: 'QueryComplexity',
      description: 'Complexity score of this operation, and its limit',
      resolve: (_root, _args, { complexity }) => complexity,
    }),
    metadata: t.field({
      type: 'Metadata',
      ...withCost(lookup),
      resolve: (_root, _args, { actor }) => (actor === undefined ? null : { ...serviceVersion, enterprise: true }),
    }),
    echo: t.string({
      nullable: false,
      description: "Test field: returns the caller's name and the text",
      ...withCost(lookup),
      args: { text: t.arg.string({ required: true }) },
      resolve: (_root, { text }, { actor }) => `${JSON.stringify(actor?.username ?? null)} says: ${text}`,
    }),
  }))

  mutation(kit, 'echoCreate', {
    description: 'Test mutation: returns the messages',
    input: (t) => ({ messages: t.stringList(), errors: t.stringList() }),
    run: async ({ messages, errors }) => ({ echoes: messages ?? undefined, errors: errors ?? [] }),
    payload: (t) => ({ echoes: t.stringList({ resolve: ({ echoes }) => echoes }) }),
  })
}
