import type { SnippetFile } from '@penstock/core'
import { MarkupError, type MarkupFormat } from '@penstock/markup'
import { GraphQLError } from 'graphql'
import type { Markup } from '../../request/request-context.ts'
import { type BlobViewer, richViewerOf } from '../repository/blob-viewers.ts'

/** The formats that are rendered, by the end of a file's name. */
const formats: Readonly<Record<string, MarkupFormat>> = {
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

function formatOf(name: string): MarkupFormat | undefined {
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

/** Returns the text as highlighted HTML. @throws GraphQLError if it exceeds a limit */
export const highlightedHtml = async (markup: Markup, { name }: SnippetFile, text: string): Promise<string> => {
  const lines = await rendering(markup.highlight({ text, fileName: name }))
  return `<pre class="code highlight"><code>${lines}</code></pre>`
}

/**
 * Returns the rendered text as sanitised HTML; `undefined` if the file has no such form, or is too large for it.
 *
 * @throws GraphQLError if it exceeds a limit
 */
export async function renderedHtml(markup: Markup, { name }: SnippetFile, text: string): Promise<string | undefined> {
  const format = formatOf(name)
  if (format === undefined || Buffer.byteLength(text) > RENDERED_UP_TO_BYTES) return undefined
  return rendering(markup.render({ format, text }))
}

async function rendering(work: Promise<string>): Promise<string> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof MarkupError)) throw error
    throw new GraphQLError(`The file cannot be rendered: ${error.reason.replaceAll('_', ' ')}`)
  }
}
