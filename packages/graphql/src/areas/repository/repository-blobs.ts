import { branchNamesOf, type FileOfRepository, languageOf } from '@penstock/core'
import { loadBatched, type RequestContext } from '../../request/request-context.ts'
import { constantFields } from '../../schema/constant-fields.ts'
import type { Kit } from '../../schema/kit.ts'
import type { FieldsOf } from '../../schema/schema-types.ts'
import { encodedPath } from '../../schema/web-address.ts'
import { standingIn } from '../namespaces/access-levels.ts'
import { addBlame } from './blame.ts'
import { plainTextIn, textIn } from './blob-text.ts'
import { addBlobViewers, richViewerOf, simpleViewerOf } from './blob-viewers.ts'
import { openRepository } from './open-repository.ts'

declare module '../../schema/schema-types.ts' {
  interface ObjectSources {
    RepositoryBlob: FileOfRepository
  }
}

export function addRepositoryBlobs(kit: Kit): void {
  const { builder, globalIds, web } = kit
  addBlobViewers(kit)
  addBlame(kit)
  builder.objectType('RepositoryBlob', {
    description: 'A file of a repository',
    fields: (t) => ({
      id: t.id({ nullable: false, resolve: ({ blobSha }) => globalIds.of('Blob', blobSha) }),
      oid: t.string({ nullable: false, resolve: ({ blobSha }) => blobSha }),
      name: t.exposeString('name', { nullable: true }),
      path: t.exposeString('path', { nullable: false }),
      mode: t.exposeString('mode', { nullable: true }),
      language: t.string({ description: 'By the end of the name', resolve: ({ name }) => languageOf(name)?.name }),
      fileType: t.string({ resolve: (file) => richViewerOf(file)?.fileType ?? 'text' }),
      size: t.field({ type: 'BigInt', description: 'In bytes', resolve: (file) => file.size() }),
      rawSize: t.field({ type: 'BigInt', description: 'In bytes', resolve: (file) => file.size() }),
      rawBlob: data(t, 'rawBlob', 'Null if the content is not UTF-8', textIn),
      rawTextBlob: data(t, 'rawTextBlob', 'Null if the content is not text', plainTextIn),
      plainData: data(t, 'plainData', 'Null if the content is not text', plainTextIn),
      base64EncodedBlob: data(t, 'base64EncodedBlob', 'Content of any kind, in Base64', (bytes) =>
        Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'),
      ),
      simpleViewer: t.field({
        type: 'BlobViewer',
        nullable: false,
        resolve: (file, _args, context) => simpleViewerOf(file, context),
      }),
      richViewer: t.field({
        type: 'BlobViewer',
        description: 'Null if the file is shown as text',
        resolve: (file) => richViewerOf(file),
      }),
      ...Object.fromEntries(
        Object.entries(views).map(([field, view]) => [
          field,
          t.string({ resolve: (file) => web.path(pathOf(file, view)) }),
        ]),
      ),
      permalinkPath: t.string({
        resolve: (file) => web.path(pathOf({ ...file, ref: file.commitSha }, 'blob')),
      }),
      findFilePath: t.string({
        resolve: ({ project, ref }) => web.path(`${project.fullPath}/-/find_file/${encodedPath(ref)}`),
      }),
      projectBlobPathRoot: t.string({
        resolve: ({ project, ref }) => web.path(`${project.fullPath}/-/blob/${encodedPath(ref)}`),
      }),
      archived: t.boolean({ resolve: ({ project }) => project.isArchived }),
      canModifyBlob: t.boolean({ description: 'Whether the caller may commit to this branch', resolve: isWritable }),
      canCurrentUserPushToBranch: t.boolean({ resolve: isWritable }),
      // Large file storage, forks, environments and editors outside this service do not exist.
      ...constantFields(t).nullTexts(absentTexts),
      canModifyBlobWithWebIde: constantFields(t).always(false),
      storedExternally: constantFields(t).always(false),
    }),
  })
}

/** The pages of a file, by the names of the fields that contain their paths. */
const views = {
  blamePath: 'blame',
  editBlobPath: 'edit',
  historyPath: 'commits',
  rawPath: 'raw',
  replacePath: 'update',
  webPath: 'blob',
} as const

const absentTexts = [
  'codeNavigationPath',
  'environmentExternalUrlForRouteMap',
  'environmentFormattedExternalUrl',
  'externalStorage',
  'externalStorageUrl',
  'forkAndEditPath',
  'forkAndViewPath',
  'gitpodBlobUrl',
  'ideEditPath',
  'ideForkAndEditPath',
  'lfsOid',
  'pipelineEditorPath',
] as const

/** Returns whether the caller may push, and the file was found on a branch. */
async function isWritable(
  { project, ref }: FileOfRepository,
  _args: object,
  context: RequestContext,
): Promise<boolean> {
  if (!(await standingIn(project, context)).allows('push_code')) return false
  const repository = await openRepository(project, context)
  if (repository === undefined) return false
  const input = { searchPattern: ref, offset: 0, limit: 1 }
  return (await loadBatched(context, branchNamesOf, repository, input)).includes(ref)
}

function data(
  t: FieldsOf<FileOfRepository>,
  field: string,
  description: string,
  read: (bytes: Uint8Array) => string | undefined,
) {
  return t.string({
    description,
    resolve: async (blob: FileOfRepository, _args: object, { blobBudget, deadline }: RequestContext) => {
      const size = async () => {
        deadline.requireTime()
        return blob.size()
      }
      await blobBudget.admit({ blob, field, size })
      return read(await blob.bytes())
    },
  })
}

const pathOf = ({ project, ref, path }: Pick<FileOfRepository, 'project' | 'ref' | 'path'>, view: string): string =>
  `${project.fullPath}/-/${view}/${encodedPath(ref)}/${encodedPath(path)}`
