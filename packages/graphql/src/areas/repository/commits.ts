import { authorsOfCommits, type CommitSummary, messagesOfCommits, summariesOfCommits, titleOf } from '@penstock/core'
import { html } from '@penstock/http'
import type { GraphQLResolveInfo } from 'graphql'
import { descriptionOf } from '../../request/descriptions.ts'
import { loadBatched, type RequestContext } from '../../request/request-context.ts'
import type { Kit } from '../../schema/kit.ts'
import type { CommitOfProject } from '../../schema/sources.ts'
import { openRepository } from './open-repository.ts'

declare module '../../schema/schema-types.ts' {
  interface ObjectSources {
    DiffStatsSummary: CommitSummary
  }
}

export function addCommits(kit: Kit): void {
  const { builder, globalIds, web } = kit
  builder.objectType('DiffStatsSummary', {
    description: 'Numbers of added lines, deleted lines and changed files',
    fields: (t) => ({
      additions: t.exposeInt('additions', { nullable: false }),
      deletions: t.exposeInt('deletions', { nullable: false }),
      changes: t.int({ nullable: false, resolve: ({ additions, deletions }) => additions + deletions }),
      fileCount: t.exposeInt('fileCount', { nullable: false }),
    }),
  })

  const pathOf = ({ inProject, sha }: CommitOfProject) => `${inProject.fullPath}/-/commit/${sha}`
  builder.objectType('Commit', {
    interfaces: ['Todoable'],
    fields: (t) => ({
      id: t.id({ nullable: false, resolve: ({ sha }) => globalIds.of('CommitPresenter', sha) }),
      sha: t.exposeString('sha', { nullable: false }),
      shortId: t.string({ nullable: false, resolve: ({ sha }) => sha.slice(0, 8) }),
      parentSha: t.string({ description: 'SHA of the first parent', resolve: ({ parentShas }) => parentShas[0] }),
      name: t.string({ resolve: fromMessage(titleOf) }),
      title: t.string({ resolve: fromMessage(titleOf) }),
      titleHtml: t.string({ resolve: fromMessage((message) => asHtml(titleOf(message))) }),
      fullTitle: t.string({ resolve: fromMessage(titleOf) }),
      fullTitleHtml: t.string({ resolve: fromMessage((message) => asHtml(titleOf(message))) }),
      message: t.string({ resolve: fromMessage((message) => message) }),
      description: t.string({ description: 'The message without its title', resolve: fromMessage(withoutTitle) }),
      descriptionHtml: t.string({ resolve: fromMessage((message) => asHtml(withoutTitle(message))) }),
      author: t.field({
        type: 'UserCore',
        description: 'The user with the email address of the author, if the caller may see it',
        resolve: (commit, _args, context) => loadBatched(context, authorsOfCommits, commit),
      }),
      authorName: t.string({ resolve: ({ author }) => author.name }),
      authorEmail: t.string({ resolve: ({ author }) => author.email }),
      authorGravatar: t.string({ resolve: () => null }),
      authoredDate: t.field({ type: 'Time', resolve: ({ author }) => author.atSeconds * 1_000 }),
      committerName: t.string({ resolve: ({ committer }) => committer.name }),
      committerEmail: t.string({ resolve: ({ committer }) => committer.email }),
      committedDate: t.field({ type: 'Time', resolve: ({ committer }) => committer.atSeconds * 1_000 }),
      signatureHtml: t.string({ resolve: () => null }),
      tags: t.stringList({
        description: 'Tags that point to the commit',
        resolve: async ({ inProject, sha }, _args, context) =>
          (await openRepository(inProject, context))?.tagsOf(sha).then((names) => [...names]),
      }),
      webPath: t.string({ nullable: false, resolve: (commit) => web.path(pathOf(commit)) }),
      webUrl: t.string({ nullable: false, resolve: (commit) => web.url(pathOf(commit)) }),
      diffStatsSummary: t.field({
        type: 'DiffStatsSummary',
        description: 'Compared with the first parent; null if the diff is too large to count',
        resolve: async ({ inProject, sha }, _args, context) => {
          const reader = await openRepository(inProject, context)
          return reader && loadBatched(context, summariesOfCommits, { reader, sha })
        },
      }),
    }),
  })
}

/** Returns a resolver for a text made from the commit message; null if the text budget is exceeded. */
const fromMessage =
  (toText: (message: string) => string) =>
  async (commit: CommitOfProject, _args: object, context: RequestContext, info: GraphQLResolveInfo) => {
    const { description: message } = (await descriptionOf(messagesOfCommits, commit, context, info)) ?? {}
    return message === undefined ? null : toText(message)
  }

const asHtml = (text: string): string => html`${text}`.text

const withoutTitle = (message: string): string => message.trimStart().split('\n').slice(1).join('\n').trim()
