import {
  addContextCommits,
  type Commit,
  type ContextCommit,
  listContextCommits,
  removeContextCommits,
} from '@penstock/core'
import { z } from 'zod'
import { type Area, route, type Shape } from '../routing/route.ts'
import { orderedList } from './parameters/lists.ts'
import { basicUserShape } from './shapes/basic-user.ts'
import { commitJson, commitSchema } from './shapes/commit-shape.ts'
import { escapedHtml } from './shapes/escaped-html.ts'

/** A commit as the answer to adding it, without its address. */
const addedShape: Shape<Commit> = {
  schema: commitSchema.omit({ web_url: true }).meta({ id: 'AddedContextCommit' }),
  of: (commit, context) => {
    const { web_url: _, ...rest } = commitJson(commit, context)
    return rest
  },
}

const listedShape: Shape<ContextCommit> = {
  schema: commitSchema
    .extend({
      parent_ids: z.null(),
      extended_trailers: z.null(),
      author: basicUserShape.schema.extend({ show_status: z.boolean(), path: z.string() }).nullable(),
      author_avatar_service_url: z.null(),
      author_gravatar_url: z.null(),
      commit_url: z.string(),
      commit_path: z.string(),
      description_html: z.string(),
      title_html: z.string(),
      signature_html: z.null(),
      prev_commit_id: z.null(),
      next_commit_id: z.null(),
      pipeline_status_path: z.null(),
    })
    .meta({ id: 'ContextCommit' }),
  of: ({ commit, author }, context) => {
    const { web_url: url, ...rest } = commitJson(commit, context)
    const rootPath = new URL(context.externalUrl).pathname.replace(/\/$/, '')
    return {
      ...rest,
      created_at: utcTime(commit.committer),
      parent_ids: null,
      authored_date: utcTime(commit.author),
      committed_date: utcTime(commit.committer),
      extended_trailers: null,
      web_url: url,
      author:
        author === undefined
          ? null
          : { ...basicUserShape.of(author, context), show_status: false, path: `${rootPath}/${author.username}` },
      author_avatar_service_url: null,
      author_gravatar_url: null,
      commit_url: url,
      commit_path: `${rootPath}${url.slice(context.externalUrl.length)}`,
      description_html: escapedHtml(descriptionOf(commit)),
      title_html: escapedHtml(commit.title),
      signature_html: null,
      prev_commit_id: null,
      next_commit_id: null,
      pipeline_status_path: null,
    }
  },
}

const utcTime = ({ atSeconds }: Commit['author']): string => new Date(atSeconds * 1_000).toISOString()

/** Returns the message without its title. */
const descriptionOf = ({ message, title }: Commit): string => {
  const text = message.trimStart()
  return text.slice(text.indexOf(title) + title.length).trim()
}

const names = { project: 'id' }
const emptyWhenMissing = ['commits']
const path = '/projects/:id/merge_requests/:merge_request_iid/context_commits'

export const contextCommitsArea: Area = {
  tag: 'Merge requests',
  routes: [
    route({
      method: 'GET',
      path,
      operation: listContextCommits,
      parameters: orderedList,
      summary: 'List the context commits of a merge request, in the order in which they were added.',
      names,
      shape: listedShape,
    }),
    route({
      method: 'POST',
      path,
      operation: addContextCommits,
      summary: 'Add commits of the project to a merge request as context, at most 20 at a time.',
      names,
      emptyWhenMissing,
      shape: addedShape,
      isList: true,
    }),
    route({
      method: 'DELETE',
      path,
      operation: removeContextCommits,
      summary: 'Remove context commits of a merge request.',
      names,
      emptyWhenMissing,
    }),
  ],
}
