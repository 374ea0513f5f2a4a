import {
  DEFAULT_BRANCH,
  type DescribedSnippet,
  describedSnippetFields,
  type SnippetUserAgent,
  snippetClonePath,
  snippetFileWebPath,
  snippetWebPath,
  sshCloneUrl,
} from '@penstock/core'
import { z } from 'zod'
import { isoTime } from '../../routing/iso-time.ts'
import { jsonShape, member, membersOf, pick } from '../../routing/json-shape.ts'
import type { Shape } from '../../routing/route.ts'
import { basicUserShape } from './basic-user.ts'

const plain = membersOf(describedSnippetFields)

const authorShape = {
  schema: basicUserShape.schema.extend({ email: z.string(), created_at: z.iso.datetime() }).nullable(),
  of: (({ author }, context) =>
    author === undefined
      ? null
      : {
          ...basicUserShape.of(author, context),
          // Clients need a text. It is the public address, so that private ones stay private.
          email: author.publicEmail ?? '',
          created_at: isoTime(author.createdAtMs),
        }) satisfies Shape<DescribedSnippet>['of'],
}

/** A snippet, with its fields in the order of GitLab's API. */
export const snippetShape = jsonShape<DescribedSnippet>('Snippet', {
  ...pick(plain, 'id', 'title', 'description', 'visibility'),
  author: authorShape,
  ...pick(plain, 'createdAt', 'updatedAt', 'projectId'),
  webUrl: member(z.string(), (snippet, { externalUrl }) => `${externalUrl}/${snippetWebPath(snippet)}`),
  rawUrl: member(z.string(), (snippet, { externalUrl }) => `${externalUrl}/${snippetWebPath(snippet)}/raw`),
  sshUrlToRepo: member(z.string(), (snippet, { externalUrl }) => sshCloneUrl(externalUrl, snippetClonePath(snippet))),
  httpUrlToRepo: member(z.string(), (snippet, { externalUrl }) => `${externalUrl}/${snippetClonePath(snippet)}`),
  fileName: member(z.string(), ({ files }) => files[0]!),
  files: member(z.array(z.object({ path: z.string(), raw_url: z.string() })), (snippet, { externalUrl }) =>
    snippet.files.map((path) => ({
      path,
      raw_url: `${externalUrl}/${snippetFileWebPath(snippet, DEFAULT_BRANCH, path)}`,
    })),
  ),
  imported: member(z.boolean(), () => false),
  importedFrom: member(z.literal('none'), () => 'none'),
})

export const userAgentShape = jsonShape<SnippetUserAgent>('UserAgentDetail', {
  userAgent: member(z.string(), ({ userAgent }) => userAgent),
  ipAddress: member(z.string(), ({ ipAddress }) => ipAddress),
  spamServiceSubmitted: member(z.boolean(), ({ isSubmitted }) => isSubmitted),
  akismetSubmitted: member(z.boolean(), ({ isSubmitted }) => isSubmitted),
})
