import {
  type AwardEmoji,
  awardableIdOf,
  awardEmojiFields,
  type InputSchema,
  issueAwards,
  issueNoteAwards,
  mergeRequestAwards,
  mergeRequestNoteAwards,
  type Operation,
  type Page,
  snippetAwards,
  snippetNoteAwards,
} from '@penstock/core'
import { z } from 'zod'
import { jsonShape, member, membersOf, pick } from '../routing/json-shape.ts'
import { type Area, type RestRoute, type RouteRow, route } from '../routing/route.ts'
import { orderedList } from './parameters/lists.ts'
import { basicUserShape } from './shapes/basic-user.ts'
import { userOrNull } from './shapes/issuable-shape.ts'

const plain = membersOf(awardEmojiFields)
const typeNames = { issue: 'Issue', merge_request: 'MergeRequest', snippet: 'Snippet', note: 'Note' } as const

const awardShape = jsonShape<AwardEmoji>('AwardEmoji', {
  ...pick(plain, 'id', 'name'),
  user: member(basicUserShape.schema.nullable(), ({ user }, context) => userOrNull(user, context)),
  ...pick(plain, 'createdAt', 'updatedAt'),
  awardableId: member(z.int(), awardableIdOf),
  awardableType: member(z.enum(Object.values(typeNames)), ({ awardableType }) => typeNames[awardableType]),
  // There are no custom emoji, which have an image.
  url: member(z.null(), () => null),
})

const names: NonNullable<RouteRow<InputSchema, unknown>['names']> = { project: 'id' }

interface AwardOperations {
  readonly list: Operation<InputSchema, Page<AwardEmoji>>
  readonly get: Operation<InputSchema, AwardEmoji>
  readonly create: Operation<InputSchema, AwardEmoji>
  readonly remove: Operation<InputSchema, void>
}

function awardRoutes(noun: string, awarded: string, { list, get, create, remove }: AwardOperations): RestRoute[] {
  const all = `${awarded}/award_emoji`
  const one = `${all}/:award_id`
  const shape = awardShape
  return [
    route({
      method: 'GET',
      path: all,
      operation: list,
      parameters: orderedList,
      names,
      shape,
      summary: `List the emoji reactions to ${noun}, the oldest first.`,
    }),
    route({ method: 'GET', path: one, operation: get, names, shape, summary: `Get an emoji reaction to ${noun}.` }),
    route({ method: 'POST', path: all, operation: create, names, shape, summary: `React to ${noun} with an emoji.` }),
    route({ method: 'DELETE', path: one, operation: remove, names, summary: `Remove an emoji reaction to ${noun}.` }),
  ]
}

const issue = '/projects/:id/issues/:issue_iid'
const mergeRequest = '/projects/:id/merge_requests/:merge_request_iid'
const snippet = '/projects/:id/snippets/:snippet_id'

export const awardEmojiArea: Area = {
  tag: 'Emoji reactions',
  routes: [
    ...awardRoutes('an issue', issue, issueAwards),
    ...awardRoutes('a note on an issue', `${issue}/notes/:note_id`, issueNoteAwards),
    ...awardRoutes('a merge request', mergeRequest, mergeRequestAwards),
    ...awardRoutes('a note on a merge request', `${mergeRequest}/notes/:note_id`, mergeRequestNoteAwards),
    ...awardRoutes('a snippet', snippet, snippetAwards),
    ...awardRoutes('a note on a snippet', `${snippet}/notes/:note_id`, snippetNoteAwards),
  ],
}
