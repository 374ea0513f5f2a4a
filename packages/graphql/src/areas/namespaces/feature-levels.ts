import type { Project } from '@penstock/core'
import type { Kit } from '../../schema/kit.ts'

type FeatureLevel = Project['features'][keyof Project['features']]

declare module '../../schema/schema-types.ts' {
  interface ObjectSources {
    ProjectFeatureAccess: { readonly level: FeatureLevel }
  }
}

const numbers: Readonly<Record<FeatureLevel, number>> = { disabled: 0, private: 10, enabled: 20 }

/** The features, by the names of the fields that show who can use them. */
const features = {
  issuesAccessLevel: 'issues',
  mergeRequestsAccessLevel: 'mergeRequests',
  repositoryAccessLevel: 'repository',
} as const satisfies Record<string, keyof Project['features']>

/** Adds the fields that show who can use the features of a project. */
export function addFeatureLevels({ builder }: Kit): void {
  const level = builder.enumType('ProjectFeatureAccessLevel', {
    values: {
      DISABLED: { value: 'disabled' },
      ENABLED: { value: 'enabled' },
      PRIVATE: { value: 'private' },
    } as const,
  })
  builder.objectType('ProjectFeatureAccess', {
    description: 'Who can use a feature of a project',
    fields: (t) => ({
      integerValue: t.int({ resolve: (access) => numbers[access.level] }),
      stringValue: t.field({ type: level, resolve: (access) => access.level }),
    }),
  })
  builder.objectFields('Project', (t) => ({
    ...Object.fromEntries(
      Object.entries(features).map(([field, feature]) => [
        field,
        t.field({ type: 'ProjectFeatureAccess', resolve: (project) => ({ level: project.features[feature] }) }),
      ]),
    ),
    forkingAccessLevel: t.field({
      type: 'ProjectFeatureAccess',
      description: 'Projects cannot be forked',
      resolve: () => ({ level: 'disabled' as const }),
    }),
  }))
}
