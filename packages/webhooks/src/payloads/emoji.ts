import { type AwardFacts, awardableIdOf, type ProjectFacts, type User } from '@penstock/core'
import { noteAttributes, notedJson, notedUrl } from './note.ts'
import { hookTime, type Json, projectJson, userJson } from './shared-objects.ts'

export interface EmojiFacts extends AwardFacts {
  readonly facts: ProjectFacts
  readonly user: User | undefined
  readonly action: 'award' | 'revoke'
}

const awardableTypes = { issue: 'Issue', merge_request: 'MergeRequest', snippet: 'Snippet', note: 'Note' } as const

/** Returns the payload. A commit, a diff and the content of a snippet are added when it is sent. */
export function emojiPayload({ facts, user, award, note, on, action }: EmojiFacts, externalUrl: string): Json {
  const { project } = facts
  const url = notedUrl({ facts, on }, externalUrl)
  return {
    object_kind: 'emoji',
    event_type: action,
    user: userJson(user, externalUrl),
    project_id: project.id,
    project: projectJson(facts, externalUrl),
    object_attributes: {
      id: award.id,
      user_id: award.userId ?? null,
      name: award.name,
      awardable_type: awardableTypes[award.awardableType],
      awardable_id: awardableIdOf(award),
      created_at: hookTime(award.createdAtMs),
      updated_at: hookTime(award.updatedAtMs),
      action,
      awarded_on_url: note === undefined ? url : `${url}#note_${note.id}`,
    },
    ...(note !== undefined && { note: noteAttributes({ facts, note, on }, externalUrl) }),
    ...notedJson({ facts, on }, externalUrl),
  }
}
