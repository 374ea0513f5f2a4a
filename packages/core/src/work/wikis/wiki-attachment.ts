import { isGitFile, segmentsOf } from '../../base/git/repository-path.ts'

/** A file in a wiki that pages refer to. */
export interface WikiAttachment {
  readonly fileName: string
  /** The path in the repository, which is also the address relative to the pages. */
  readonly path: string
  readonly branch: string
  /** The text that shows the file in a page. */
  readonly markdown: string
}

const MAX_NAME_BYTES = 255

/**
 * The extensions of images, videos and sounds that a page shows by their names. SVG is left out, because it may contain scripts.
 */
const shownExtensions = new Set(
  'png jpg jpeg gif bmp tiff ico webp avif mp4 m4v mov webm ogv mp3 oga ogg spx wav'.split(' '),
)

/** Returns the name under which an uploaded file is stored; `undefined` for an empty one. */
export function attachmentName(fileName: string): string | undefined {
  const name = fileName.slice(Math.max(fileName.lastIndexOf('/'), fileName.lastIndexOf('\\')) + 1).trim()
  if (name === '') return undefined
  const clean = shortened(name.normalize('NFC').replaceAll(/[^\p{L}\p{M}\p{N}_.+-]/gu, '_'))
  // Names such as `..`, `.git` and `.gitmodules`.
  return /^\.+$/.test(clean) || segmentsOf(clean) === undefined || isGitFile(clean) ? `_${clean}` : clean
}

/** Shortens a name, but keeps its extension. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name
  const [extension = ''] = /\.[^.]{1,30}$/u.exec(name) ?? []
  const room = MAX_NAME_BYTES - Buffer.byteLength(extension)
  let stem = ''
  for (const character of name.slice(0, name.length - extension.length)) {
    if (Buffer.byteLength(stem + character) > room) break
    stem += character
  }
  return stem + extension
}

/** Returns the Markdown that shows a file in a page, or links to it. */
export function attachmentMarkdown(name: string, path: string): string {
  const dot = name.lastIndexOf('.')
  const extension = dot < 0 ? '' : name.slice(dot + 1).toLowerCase()
  if (shownExtensions.has(extension)) return `![${name.slice(0, dot)}](${path})`
  return `${extension === 'svg' ? '!' : ''}[${name}](${path})`
}
