// Validates paths of files and names of branches and tags, so that they are harmless for Git on every operating system.

export const MAX_PATH_BYTES = 4_096
const MAX_SEGMENT_BYTES = 255
const MAX_DEPTH = 100
const MAX_REF_NAME_BYTES = 200

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
  if (segments.length > MAX_DEPTH || !segments.every(isSegment)) return undefined
  return segments.slice(0, -1).some(isGitFile) ? undefined : segments
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

const isGitDirectory = (name: string): boolean => /^(?:\.git|git~1)$/.test(plainName(name))

/**
 * Returns whether a name is that of a file which Git reads from a tree. `git fsck` reports a directory of that name. NTFS
 * makes the short names from the first letters, or from a hash.
 */
export const isGitFile = (name: string): boolean =>
  /^(?:\.git(?:modules|attributes)|git(?:mod|att)~\d|gi(?:7eba|7d29)~\d)$/.test(plainName(name))

/** Returns the name that HFS+ (ignored characters) or NTFS (streams, trailing dots) take a name for, in lower case. */
const plainName = (name: string): string =>
  name
    .replace(ignorable, '')
    .toLowerCase()
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '')

/** Returns whether a name passes `git check-ref-format --branch` and cannot be mistaken for a commit id. */
export function isRefName(name: string): boolean {
  if (name === '' || controls.test(name) || unpaired.test(name) || Buffer.byteLength(name) > MAX_REF_NAME_BYTES)
    return false
  if (/[ ~^:?*[\\]|\.\.|@\{|\/\//.test(name) || /^[-/]|[/.]$/.test(name) || name === '@' || name === 'HEAD')
    return false
  if (/^[0-9a-f]{40}$/.test(name) || name.startsWith('refs/')) return false
  return name.split('/').every((segment) => !segment.startsWith('.') && !segment.endsWith('.lock'))
}
