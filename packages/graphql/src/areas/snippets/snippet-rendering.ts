import { type Core, highlightFile, type MarkupRequest, renderMarkup, type SnippetFile } from '@penstock/core'
import { type BlobViewer, richViewerOf } from '../repository/blob-viewers.ts'

/** The formats that are rendered, by the end of a file's name. */
const formats: Readonly<Record<string, MarkupRequest['format']>> = {
  md: 'markdown',
  markdown: 'markdown',
  mdown: 'markdown',
  mkd: 'markdown',
  adoc: 'asciidoc',
  ad: 'asciidoc',
  asciidoc: 'asciidoc',
  org: 'org',
  rdoc: 'rdoc',
}

/** The size up to which files are rendered. */
const RENDERED_UP_TO_BYTES = 1024 * 1024

function formatOf(name: string): MarkupRequest['format'] | undefined {
  const [, ending = ''] = /\.(\w+)$/.exec(name.toLowerCase()) ?? []
  return Object.hasOwn(formats, ending) ? formats[ending] : undefined
}

/** Returns the viewer for the rendered form, or for another form than text, such as an image. */
export function richViewerOfFile(
  file: Pick<SnippetFile, 'name' | 'size' | 'bytes'>,
  bytes: number,
): BlobViewer | undefined {
  if (formatOf(file.name) === undefined) return richViewerOf(file)
  return { type: 'rich', fileType: 'markup', tooLarge: bytes > RENDERED_UP_TO_BYTES, collapsed: false }
}

/** Returns the text as highlighted HTML. @throws DomainError if it exceeds a limit */
export const highlightedHtml = async (core: Core, { name }: SnippetFile, text: string): Promise<string> =>
  `<pre class="code highlight"><code>${await highlightFile(core, { text, fileName: name })}</code></pre>`

/**
 * Returns the rendered text as sanitised HTML; `undefined` if the file has no such form, or is too large for it.
 *
 * @throws DomainError if it exceeds a limit
 */
export async function renderedHtml(core: Core, { name }: SnippetFile, text: string): Promise<string | undefined> {
  const format = formatOf(name)
  if (format === undefined || Buffer.byteLength(text) > RENDERED_UP_TO_BYTES) return undefined
  return renderMarkup(core, { format, text })
}
