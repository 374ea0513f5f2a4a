import { Readable } from 'node:stream'
import {
  createProjectSnippet,
  getProjectSnippet,
  getRawProjectSnippet,
  getRawProjectSnippetFile,
  getSnippetUserAgent,
  listProjectSnippets,
  type RawSnippetFile,
  removeProjectSnippet,
  updateProjectSnippet,
} from '@penstock/core'
import { fullMessages } from '../routing/field-error-text.ts'
import { type Area, type RestRoute, route } from '../routing/route.ts'
import { orderedList } from './parameters/lists.ts'
import { inlineDisposition } from './shapes/repository-shapes.ts'
import { snippetShape, userAgentShape } from './shapes/snippet-shape.ts'

/** The maximum size of a body with files. */
const CONTENT_LIMIT_BYTES = 16 * 1024 * 1024
const names = { project: 'id' }
const snippets = '/projects/:id/snippets'
const snippet = `${snippets}/:snippet_id`

/** Refusals of snippets have their texts in `message.error`. */
const rawContent = ({ content }: RawSnippetFile) => ({ type: 'text/plain', body: content })

const wording: Pick<RestRoute, 'invalid' | 'refusal'> = {
  invalid: (fields) => ({ error: fullMessages(fields) }),
  refusal: (message) => ({ error: message }),
}

const rawHeaders = ({ name, sha, size, content }: RawSnippetFile) => ({
  // The hash of a whole content is computed when it is sent.
  ...(content instanceof Readable && { ETag: `W/"${sha}"`, 'Content-Length': String(size) }),
  // Browsers render a page of this type even if the server declares text.
  'Content-Disposition': inlineDisposition(name.replace(/\.xhtml$/i, '')),
  'Content-Security-Policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
})

export const snippetsArea: Area = {
  tag: 'Snippets',
  routes: [
    route({
      method: 'GET',
      path: snippets,
      operation: listProjectSnippets,
      parameters: orderedList,
      summary: 'List the snippets of a project that you can read, newest first.',
      names,
      shape: snippetShape,
    }),
    route({
      method: 'POST',
      path: snippets,
      operation: createProjectSnippet,
      summary: 'Create a snippet with one to ten files, at most 300 in an hour.',
      names,
      bodyLimitBytes: CONTENT_LIMIT_BYTES,
      emptyWhenMissing: ['title'],
      shape: snippetShape,
      ...wording,
    }),
    route({
      method: 'GET',
      path: snippet,
      operation: getProjectSnippet,
      summary: 'Get a snippet.',
      names,
      shape: snippetShape,
    }),
    route({
      method: 'PUT',
      path: snippet,
      operation: updateProjectSnippet,
      summary: 'Update a snippet, and its files in one commit.',
      names,
      bodyLimitBytes: CONTENT_LIMIT_BYTES,
      shape: snippetShape,
      ...wording,
    }),
    route({
      method: 'DELETE',
      path: snippet,
      operation: removeProjectSnippet,
      summary: 'Delete a snippet with its repository.',
      names,
    }),
    route({
      method: 'GET',
      path: `${snippet}/raw`,
      operation: getRawProjectSnippet,
      summary: 'Get the raw content of the first file of a snippet.',
      names,
      content: rawContent,
      headers: rawHeaders,
    }),
    route({
      method: 'GET',
      path: `${snippet}/files/:ref/:file_path/raw`,
      operation: getRawProjectSnippetFile,
      summary: 'Get the raw content of a file of a snippet at a branch, tag or commit.',
      names,
      content: rawContent,
      headers: rawHeaders,
    }),
    route({
      method: 'GET',
      path: `${snippet}/user_agent_detail`,
      operation: getSnippetUserAgent,
      summary: 'Get the address and the user agent of the client that created a snippet.',
      names,
      shape: userAgentShape,
    }),
  ],
}
