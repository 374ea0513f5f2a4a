import type { FileOfRepository } from '@penstock/core'
import type { Kit } from './kit.ts'
import type { RequestContext } from './request-context.ts'
import type { FieldsOf } from './schema-types.ts'
import { encodedPath } from './web-address.ts'

declare module './schema-types.ts' {
  interface ObjectSources {
    RepositoryBlob: FileOfRepository
  }
}

/** @see spec/graphql-contract.md 5.4 */
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
      rawBlob: data(t, 'rawBlob', 'Null where it is not UTF-8', textIn),
      rawTextBlob: data(t, 'rawTextBlob', 'Null where it is no text', plainTextIn),
      plainData: data(t, 'plainData', 'Null where it is no text', plainTextIn),
      base64EncodedBlob: data(t, 'base64EncodedBlob', 'Whatever it holds', (bytes) =>
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
    resolve: async (blob: FileOfRepository, _args: object, { blobData, deadline }: RequestContext) => {
      const size = async () => {
        deadline.requireTime()
        return blob.size()
      }
      await blobData.admit({ blob, field, size })
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

/** As far as Git looks for what makes a file a binary one. */
const LOOKED_AT = 8_000

const plainTextIn = (bytes: Uint8Array): string | undefined =>
  bytes.subarray(0, LOOKED_AT).includes(0) ? undefined : textIn(bytes)

const pathOf = ({ project, ref, path }: FileOfRepository, view: 'blob' | 'raw'): string =>
  `${project.fullPath}/-/${view}/${encodedPath(ref)}/${encodedPath(path)}`
