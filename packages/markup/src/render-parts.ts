import { randomBytes } from 'node:crypto'
import type { MarkupFormat } from './formats/format-names.ts'
import { renderers } from './formats/renderers.ts'
import { addDirections, addHeadingLinks } from './headings.ts'
import { markReferences } from './mark-references.ts'
import type { Reference } from './references.ts'
import type { MarkupLimits } from './sanitise/limits.ts'
import type { LinkBase } from './sanitise/links.ts'
import { MarkupError, type MarkupErrorReason } from './sanitise/markup-error.ts'
import { parseHtml, sanitise, writeHtml } from './sanitise/sanitise.ts'

type TextLimits = Pick<
  MarkupLimits,
  'maxHtmlBytes' | 'maxDepth' | 'maxElements' | 'maxReferences' | 'maxHighlightedBytes'
>

/** A text for a worker thread. */
export type RenderTask =
  | {
      readonly kind: 'markup'
      readonly format: MarkupFormat
      readonly text: string
      readonly base: LinkBase | undefined
      readonly findsReferences: boolean
      readonly limits: TextLimits
    }
  | { readonly kind: 'file'; readonly text: string; readonly fileName: string; readonly limits: TextLimits }

/** A piece of the result of a worker thread, small enough to be received in one turn. */
export type RenderPart =
  | { readonly kind: 'refused'; readonly reason: MarkupErrorReason }
  /** The references that the numbers in `html` parts represent. */
  | { readonly kind: 'references'; readonly references: readonly Reference[] }
  /** HTML, and numbers in the places of references. */
  | { readonly kind: 'html'; readonly pieces: readonly (string | number)[] }

/** The number of characters or references in one part. */
const PART_CHARACTERS = 256 * 1024
const PART_REFERENCES = 2_000

/** Renders a text in the worker thread. */
export async function* renderParts(task: RenderTask): AsyncGenerator<RenderPart> {
  try {
    if (task.kind === 'file') {
      const { highlightFile } = await import('./highlight.ts')
      const html = highlightFile(task.text, task.fileName, task.limits.maxHighlightedBytes)
      yield* htmlParts([requireShort(html, task.limits)])
      return
    }
    const { pieces, references } = await renderMarkup(task)
    yield { kind: 'references', references }
    yield* htmlParts(pieces)
  } catch (error) {
    if (error instanceof MarkupError) yield { kind: 'refused', reason: error.reason }
    // A parser or the sanitiser recursed too deeply.
    else if (error instanceof RangeError) yield { kind: 'refused', reason: 'too_deep' }
    else throw error
  }
}

async function renderMarkup(task: Extract<RenderTask, { kind: 'markup' }>) {
  const { format, text, base, findsReferences, limits } = task
  const render = await renderers[format]()
  const tree = parseHtml(requireShort(await render(text), limits))
  if (format === 'markdown' || format === 'org') addHeadingLinks(tree)
  if (format === 'markdown') addDirections(tree)
  const sanitised = sanitise(tree, { base, limits })
  requireShort(sanitised.html, limits)
  if (!findsReferences) return { pieces: [sanitised.html], references: [] }
  const secret = `reference-${randomBytes(16).toString('hex')}-`
  const references = markReferences(sanitised.tree, limits.maxReferences, (index) => `${secret}${index};`)
  if (references.length === 0) return { pieces: [sanitised.html], references }
  const pieces = writeHtml(sanitised.tree).split(new RegExp(`${secret}(\\d+);`))
  return { pieces: pieces.map((piece, index) => (index % 2 === 0 ? piece : Number(piece))), references }
}

function requireShort(html: string, { maxHtmlBytes }: TextLimits): string {
  if (Buffer.byteLength(html) > maxHtmlBytes) throw new MarkupError('html_too_long')
  return html
}

function* htmlParts(pieces: readonly (string | number)[]): Generator<RenderPart> {
  let part: (string | number)[] = []
  let characters = 0
  for (const piece of pieces) {
    const slices = typeof piece === 'number' ? [piece] : slicesOf(piece)
    for (const slice of slices) {
      part.push(slice)
      characters += typeof slice === 'number' ? 0 : slice.length
      if (characters < PART_CHARACTERS && part.length < PART_REFERENCES) continue
      yield { kind: 'html', pieces: part }
      part = []
      characters = 0
    }
  }
  yield { kind: 'html', pieces: part }
}

function* slicesOf(html: string): Generator<string> {
  for (let at = 0; at < html.length; at += PART_CHARACTERS) yield html.slice(at, at + PART_CHARACTERS)
}
