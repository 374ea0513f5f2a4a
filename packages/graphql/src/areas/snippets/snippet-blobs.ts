import {
  DEFAULT_BRANCH,
  filesOfEachSnippet,
  type Listed,
  listingOfArrays,
  type SnippetFile,
  snippetFileWebPath,
} from '@penstock/core'
import { loadBatched, type RequestContext } from '../../request/request-context.ts'
import { connectionField } from '../../schema/connection-field.ts'
import { constantFields } from '../../schema/constant-fields.ts'
import { lookup, repositoryRead, withCost } from '../../schema/cost.ts'
import type { Kit } from '../../schema/kit.ts'
import type { FieldsOf } from '../../schema/schema-types.ts'
import { isBinary, plainTextIn } from '../repository/blob-text.ts'
import { type BlobViewer, blobViewerFields, simpleViewerOf } from '../repository/blob-viewers.ts'
import { highlightedHtml, renderedHtml, richViewerOfFile } from './snippet-rendering.ts'

declare module '../../schema/schema-types.ts' {
  interface ObjectSources {
    SnippetBlob: SnippetFile
    SnippetBlobViewer: BlobViewer
  }
  interface ObjectSums {
    /** The requested paths at which there is no file. */
    SnippetBlob: 'unretrievable'
  }
}

/** Adds the files of snippets. */
export function addSnippetBlobs(kit: Kit): void {
  const { builder, connections, web } = kit
  builder.objectType('SnippetBlobViewer', {
    description: 'How a client can show the content of a file of a snippet',
    fields: (t) => blobViewerFields(kit, t),
  })
  builder.objectType('SnippetBlob', {
    description: 'One file of a snippet',
    fields: (t) => ({
      name: t.exposeString('name', { nullable: true }),
      path: t.exposeString('path', { nullable: true }),
      mode: t.exposeString('mode', { nullable: true }),
      size: t.int({ nullable: false, description: 'In bytes', resolve: (file) => file.size() }),
      binary: t.boolean({
        nullable: false,
        resolve: async (file, _args, context) => isBinary(await contentOf(file, 'binary', context)),
      }),
      renderedAsText: t.boolean({
        nullable: false,
        description: 'Whether a client can show it as text, and in no other form',
        resolve: async (file, _args, context) => {
          const { fileType, tooLarge } = await simpleViewerOf(file, context)
          return fileType === 'text' && !tooLarge && richViewerOfFile(file, await file.size()) === undefined
        },
      }),
      rawPath: t.string({
        nullable: false,
        resolve: ({ snippet, path }) => web.path(snippetFileWebPath(snippet, DEFAULT_BRANCH, path)),
      }),
      externalStorage: constantFields(t).nullText(),
      rawPlainData: data(t, 'rawPlainData', 'The text itself; null if the content is not text', async (text) => text),
      plainData: data(t, 'plainData', 'Highlighted HTML; null if the content is not text', (text, file, { core }) =>
        highlightedHtml(core, file, text),
      ),
      richData: data(t, 'richData', 'The rendered form as HTML; null if the file has none', (text, file, { core }) =>
        renderedHtml(core, file, text),
      ),
      simpleViewer: t.field({
        type: 'SnippetBlobViewer',
        nullable: false,
        resolve: (file, _args, context) => simpleViewerOf(file, context),
      }),
      richViewer: t.field({
        type: 'SnippetBlobViewer',
        description: 'Null if the file is shown as text',
        resolve: async (file) => richViewerOfFile(file, await file.size()),
      }),
    }),
  })
  builder.objectFields(connections.of('SnippetBlob'), (t) => ({
    hasUnretrievableBlobs: t.boolean({
      nullable: false,
      description: 'Whether a requested path has no file',
      resolve: async (connection) =>
        (await connection.query('unretrievable', (listing) => listing.sums('unretrievable'))) > 0,
    }),
  }))
  builder.objectFields('Snippet', (t) => ({
    blobs: connectionField(kit, t, 'SnippetBlob', {
      description: 'The files at the newest commit, by path',
      cost: lookup,
      args: { paths: t.arg.stringList() },
      list: async (snippet, { paths }, context) =>
        listedFiles(await loadBatched(context, filesOfEachSnippet, snippet), paths ?? undefined),
    }),
  }))
}

function listedFiles(
  all: readonly SnippetFile[],
  paths: readonly string[] | undefined,
): Listed<SnippetFile, 'unretrievable'> {
  const wanted = new Set(paths)
  const files = paths === undefined ? all : all.filter(({ path }) => wanted.has(path))
  const missing = paths === undefined ? 0 : wanted.size - files.length
  return { listing: { ...listingOfArrays([files]), sums: async () => [missing] }, index: 0 }
}

type Read = (text: string, file: SnippetFile, context: RequestContext) => Promise<string | undefined>

function data(t: FieldsOf<SnippetFile>, field: string, description: string, read: Read) {
  return t.string({
    description,
    ...(field === 'plainData' && withCost(repositoryRead)),
    resolve: async (file: SnippetFile, _args: object, context: RequestContext) => {
      const text = plainTextIn(await contentOf(file, field, context))
      return text === undefined ? undefined : read(text, file, context)
    },
  })
}

/** Returns the content, which counts against the limit on file content in one response. */
async function contentOf(
  file: SnippetFile,
  field: string,
  { blobBudget, deadline }: RequestContext,
): Promise<Uint8Array> {
  const size = async () => {
    deadline.requireTime()
    return file.size()
  }
  await blobBudget.admit({ blob: file, field, size })
  return file.bytes()
}
