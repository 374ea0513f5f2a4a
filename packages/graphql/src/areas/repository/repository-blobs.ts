import type { FileOfRepository } from '@penstock/core'
import type { RequestContext } from '../../request/request-context.ts'
import type { Kit } from '../../schema/kit.ts'
import type { FieldsOf } from '../../schema/schema-types.ts'
import { encodedPath } from '../../schema/web-address.ts'

declare module '../../schema/schema-types.ts' {
  interface ObjectSources {
    RepositoryBlob: FileOfRepository
  }
}

export function addRepositoryBlobs(kit: Kit): void {
  const { builder, globalIds, web } = kit
  builder.objectType('RepositoryBlob', {
    description: 'A file of a repository',
    fields: (t) => ({
      id: t.id({ nullable: false, resolve: ({ blobSha }) => globalIds.of('Blob', blobSha) }),
      oid: t.string({ nullable: false, resolve: ({ blobSha }) => blobSha }),
      name: t.exposeString('name', { nullable: true }),
      path: t.exposeString('path', { nullable: false }),
      mode: t.exposeString('mode', { nullable: true }),
      lfsOid: t.string({ resolve: () => null }),
      language: t.string({ resolve: () => null }),
      fileType: t.string({ resolve: () => null }),
      size: t.field({ type: 'BigInt', description: 'In bytes', resolve: (file) => file.size() }),
      rawSize: t.field({ type: 'BigInt', description: 'In bytes', resolve: (file) => file.size() }),
      rawBlob: data(t, 'rawBlob', 'Null if the content is not UTF-8', textIn),
      rawTextBlob: data(t, 'rawTextBlob', 'Null if the content is not text', plainTextIn),
      plainData: data(t, 'plainData', 'Null if the content is not text', plainTextIn),
      base64EncodedBlob: data(t, 'base64EncodedBlob', 'Content of any kind, in Base64', (bytes) =>
        Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'),
      ),
      webPath: t.string({ resolve: (file) => web.path(pathOf(file, 'blob')) }),
      rawPath: t.string({ resolve: (file) => web.path(pathOf(file, 'raw')) }),
      storedExternally: t.boolean({ resolve: () => false }),
    }),
  })
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

const textIn = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Git treats a file as binary if its first 8,000 bytes contain a NUL. */
const BINARY_CHECK_BYTES = 8_000

const plainTextIn = (bytes: Uint8Array): string | undefined =>
  bytes.subarray(0, BINARY_CHECK_BYTES).includes(0) ? undefined : textIn(bytes)

const pathOf = ({ project, ref, path }: FileOfRepository, view: 'blob' | 'raw'): string =>
  `${project.fullPath}/-/${view}/${encodedPath(ref)}/${encodedPath(path)}`
