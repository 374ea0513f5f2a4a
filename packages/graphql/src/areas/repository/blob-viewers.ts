import type { FileOfRepository } from '@penstock/core'
import type { FieldRef } from '@pothos/core'
import type { RequestContext } from '../../request/request-context.ts'
import { constantFields } from '../../schema/constant-fields.ts'
import type { Kit } from '../../schema/kit.ts'
import { oncePerBuilder } from '../../schema/once-per-builder.ts'
import type { FieldsOf, Types } from '../../schema/schema-types.ts'
import { isBinary } from './blob-text.ts'

/** How a client can show a file. */
export interface BlobViewer {
  readonly type: 'rich' | 'simple'
  readonly fileType: string
  readonly tooLarge: boolean
  readonly collapsed: boolean
}

type ViewedFile = Pick<FileOfRepository, 'name' | 'size' | 'bytes'>

declare module '../../schema/schema-types.ts' {
  interface ObjectSources {
    BlobViewer: BlobViewer
  }
}

/** GitLab's client shows a text collapsed above the first size, and does not show it above the second. */
const COLLAPSED_ABOVE_BYTES = 1024 * 1024
const SHOWN_UP_TO_BYTES = 5 * 1024 * 1024

/** The files that a client shows in another way than as text, by the end of their names. */
const richTypes: Readonly<Record<string, string>> = {
  ...fileType('image', 'png', 'jpg', 'jpeg', 'gif', 'bmp', 'ico', 'webp'),
  ...fileType('video', 'mp4', 'm4v', 'mov', 'webm', 'ogv'),
  ...fileType('audio', 'mp3', 'oga', 'ogg', 'spx', 'wav'),
  ...fileType('svg', 'svg'),
  ...fileType('pdf', 'pdf'),
  ...fileType('csv', 'csv'),
  ...fileType('notebook', 'ipynb'),
}

const viewerType = oncePerBuilder((builder) =>
  builder.enumType('BlobViewersType', { values: ['auxiliary', 'rich', 'simple'] as const }),
)

/** Returns the fields of the types of viewers: repositories and snippets have a type each. */
export const blobViewerFields = (kit: Kit, t: FieldsOf<BlobViewer>): Record<string, FieldRef<Types, unknown>> => ({
  type: t.field({ type: viewerType(kit), nullable: false, resolve: (viewer) => viewer.type }),
  fileType: t.exposeString('fileType', { nullable: false }),
  tooLarge: t.exposeBoolean('tooLarge', { nullable: false }),
  collapsed: t.exposeBoolean('collapsed', { nullable: false }),
  renderError: constantFields(t).nullText(),
  loadAsync: t.boolean({ nullable: false, resolve: () => true }),
  loadingPartialName: t.string({ nullable: false, resolve: () => 'loading' }),
})

export function addBlobViewers(kit: Kit): void {
  kit.builder.objectType('BlobViewer', {
    description: 'How a client can show the content of a file',
    fields: (t) => blobViewerFields(kit, t),
  })
}

/** Returns the viewer for the plain content. A file above the limit is not read: it is too large for any viewer of text. */
export async function simpleViewerOf(file: ViewedFile, context: RequestContext): Promise<BlobViewer> {
  const size = async () => {
    context.deadline.requireTime()
    return file.size()
  }
  const bytes = await size()
  const viewer = {
    type: 'simple',
    tooLarge: bytes > SHOWN_UP_TO_BYTES,
    collapsed: bytes > COLLAPSED_ABOVE_BYTES,
  } as const
  if (bytes === 0) return { ...viewer, fileType: 'empty' }
  if (viewer.tooLarge) return { ...viewer, fileType: 'text' }
  await context.blobBudget.admit({ blob: file, field: 'simpleViewer', size })
  return { ...viewer, fileType: isBinary(await file.bytes()) ? 'download' : 'text' }
}

/**
 * Returns the viewer that shows the content in another form than as text, such as an image. Markdown has none, because
 * it is not rendered here.
 */
export function richViewerOf({ name }: ViewedFile): BlobViewer | undefined {
  const [, ending = ''] = /\.(\w+)$/.exec(name.toLowerCase()) ?? []
  const fileType = Object.hasOwn(richTypes, ending) ? richTypes[ending] : undefined
  return fileType === undefined ? undefined : { type: 'rich', fileType, tooLarge: false, collapsed: false }
}

function fileType(type: string, ...endings: readonly string[]): Record<string, string> {
  return Object.fromEntries(endings.map((ending) => [ending, type]))
}
