import type { Generated } from 'kysely'
import { type ColumnsOf, type FieldTable, type ObjectOf, oneOf } from '../kit/field-table.ts'

/** `private` admits members only, `enabled` everyone who sees the project; `disabled` excludes administrators too. */
export const featureLevels = ['disabled', 'private', 'enabled'] as const
export type FeatureLevel = (typeof featureLevels)[number]

const level = <Column extends string>(column: Column) => oneOf(column, featureLevels).default('enabled')

/** The features of a project that permissions depend on. */
export const projectFeatureFields = {
  issues: level('issues_access_level').as('issuesAccessLevel'),
  repository: level('repository_access_level').as('repositoryAccessLevel'),
  mergeRequests: level('merge_requests_access_level').as('mergeRequestsAccessLevel'),
  builds: level('builds_access_level').as('buildsAccessLevel'),
  wiki: level('wiki_access_level').as('wikiAccessLevel'),
  snippets: level('snippets_access_level').as('snippetsAccessLevel'),
  releases: level('releases_access_level').as('releasesAccessLevel'),
  environments: level('environments_access_level').as('environmentsAccessLevel'),
  featureFlags: level('feature_flags_access_level').as('featureFlagsAccessLevel'),
}
export const groupFeatureFields = { wiki: level('wiki_access_level').as('wikiAccessLevel') }

export interface ProjectFeatures extends ObjectOf<typeof projectFeatureFields> {}
export interface GroupFeatures extends ObjectOf<typeof groupFeatureFields> {}
export type Feature = keyof ProjectFeatures

/** The columns of a table with features. */
export type FeatureColumns<Fields extends FieldTable> = {
  [Column in keyof ColumnsOf<Fields>]: Generated<ColumnsOf<Fields>[Column]>
}

/** The levels of the features of a group or project. A feature that is missing here is not restricted. */
export type FeatureAccess = Readonly<Partial<Record<Feature, FeatureLevel>>>

const ranks: Readonly<Record<FeatureLevel, number>> = { disabled: 0, private: 1, enabled: 2 }

export const isMoreAccessible = (a: FeatureLevel, b: FeatureLevel): boolean => ranks[a] > ranks[b]

/** Returns the highest level of the features, for permissions that need only one of them. */
export const highestLevel = (access: FeatureAccess, features: readonly Feature[]): FeatureLevel =>
  features
    .map((feature) => access[feature] ?? 'enabled')
    .reduce((highest, each) => (isMoreAccessible(each, highest) ? each : highest), 'disabled')
