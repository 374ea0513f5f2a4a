// Validates paths of files and names of branches and tags, so that they are harmless for Git on every operating system.

export const MAX_PATH_BYTES = 4_096
const MAX_SEGMENT_BYTES = 255
const MAX_DEPTH = 100
export const MAX_REF_NAME_BYTES = 200

// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
const controls = /[\u0000-\u001f\u007f]/
/** Matches a lone surrogate, which cannot be encoded as UTF-8. */
const unpaired = /\p{Surrogate}/u
/** Matches characters that HFS+ ignores in a name. */
const ignorable = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

/** Returns the segments of a file path, or `undefined` for an invalid path. A leading slash is dropped. */
export function segmentsOf(path: string): string[] | undefined {
  const relative = path.replace(/^\//, '')
  if (controls.test(relative) || unpaired.test(relative) || Buffer.byteLength(relative) > MAX_PATH_BYTES)
    return undefined
  const segments = relative.split('/')
  return segments.length <= MAX_DEPTH && segments.every(isSegment) ? segments : undefined
}

const isSegment = (segment: string): boolean =>
  segment !== '' &&
  segment !== '.' &&
  segment !== '..' &&
  Buffer.byteLength(segment) <= MAX_SEGMENT_BYTES &&
  !segment.split('\\').some(isGitDirectory) &&
  !isWindowsTraversal(segment)

/**
 * Returns whether a name leads out of its directory on systems where `\` separates names. Such systems drop dots and
 * blanks at the end of a name, and take an empty name at the beginning of a path for a root.
 */
function isWindowsTraversal(segment: string): boolean {
  const names = segment.split('\\')
  return names.length > 1 && names.some((name) => /^[. ]*$/.test(name.replace(ignorable, '')))
}

/**
 * Returns whether a name is `.git`, or means it on HFS+ (ignored characters) or NTFS (short names, streams, trailing
 * dots).
 */
function isGitDirectory(name: string): boolean {
  const plain = name
    .replace(ignorable, '')
    .toLowerCase()
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '')
  return plain === '.git' || plain === 'git~1'
}

/** Returns whether a name passes `git check-ref-format --branch` and cannot be mistaken for a commit id. */
export function isRefName(name: string): boolean {
  if (name === '' || controls.test(name) || unpaired.test(name) || Buffer.byteLength(name) > MAX_REF_NAME_BYTES)
    return false
  if (/[ ~^:?*[\\]|\.\.|@\{|\/\//.test(name) || /^[-/]|[/.]$/.test(name) || name === '@' || name === 'HEAD')
    return false
  if (/^[0-9a-f]{40}$/.test(name) || name.startsWith('refs/')) return false
  return name.split('/').every((segment) => !segment.startsWith('.') && !segment.endsWith('.lock'))
}
