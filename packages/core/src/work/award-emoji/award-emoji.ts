import { id, int, type ObjectOf, oneOf, text, time } from '../../base/kit/field-table.ts'
import type { User } from '../../base/model/user.ts'
import { comparedFields, type RecordedKind } from '../../base/operations/record-change.ts'

/** The types of things that users can react to. */
export const awardableTypes = ['issue', 'merge_request', 'snippet', 'note'] as const
export type AwardableType = (typeof awardableTypes)[number]

export const awardEmojiFields = {
  id: id(),
  projectId: int('project_id'),
  awardableType: oneOf('awardable_type', awardableTypes),
  issueId: int('issue_id').optional(),
  mergeRequestId: int('merge_request_id').optional(),
  snippetId: int('snippet_id').optional(),
  noteId: int('note_id').optional(),
  /** `undefined` if the account was deleted. */
  userId: int('user_id').optional(),
  /** The first name of the emoji: `thumbsup` for `+1`. */
  name: text('name'),
  createdAtMs: time('created_at_ms'),
  updatedAtMs: time('updated_at_ms'),
}

/** A reaction as it is stored. */
export interface AwardEmojiRecord extends ObjectOf<typeof awardEmojiFields> {}

/** A reaction with its user. */
export interface AwardEmoji extends AwardEmojiRecord {
  readonly user: User | undefined
}

export const awardableIdOf = ({ issueId, mergeRequestId, snippetId, noteId }: AwardEmojiRecord): number =>
  (issueId ?? mergeRequestId ?? snippetId ?? noteId)!

/** The emoji that are treated as votes, and the columns of issues and merge requests that count them. */
export const voteColumns: Readonly<Record<string, 'upvotes' | 'downvotes'>> = {
  thumbsup: 'upvotes',
  thumbsdown: 'downvotes',
}

export const awardEmojiEvents: RecordedKind<AwardEmojiRecord> = {
  noun: 'award_emoji',
  compared: comparedFields(awardEmojiFields),
  detailsOf: (award) => ({
    name: award.name,
    awardableType: award.awardableType,
    awardableId: awardableIdOf(award),
  }),
}
