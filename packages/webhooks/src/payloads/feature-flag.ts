import type { FeatureFlag, ProjectFacts, User } from '@penstock/core'
import { type Json, projectJson, userJson } from './shared-objects.ts'

interface FeatureFlagFacts {
  readonly facts: ProjectFacts
  readonly user: User | undefined
  readonly flag: FeatureFlag
}

export const featureFlagPayload = ({ facts, user, flag }: FeatureFlagFacts, externalUrl: string): Json => ({
  object_kind: 'feature_flag',
  project: projectJson(facts, externalUrl),
  user: userJson(user, externalUrl),
  user_url: user === undefined ? null : `${externalUrl}/${encodeURIComponent(user.username)}`,
  object_attributes: {
    id: flag.id,
    name: flag.name,
    description: flag.description ?? '',
    active: flag.active,
  },
})
