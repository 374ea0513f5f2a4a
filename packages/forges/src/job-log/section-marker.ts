import { MAX_INTEGER } from '../record/limits.ts'

/** The start or the end of a section of a GitLab job log. */
export interface SectionMarker {
  readonly kind: 'start' | 'end'
  /** `undefined` if the time is 0, or later than a time can be. */
  readonly timeNs: bigint | undefined
  readonly name: string
}

/**
 * The sequence after every marker, which erases the marker before the next text is shown. A text without it is no marker, so a program
 * may print markers.
 */
export const ERASE_LINE = '\u001b[0K'

/** Matches `section_start:1770091500:get_sources[collapsed=true]`. */
const marker = /^section_(start|end):(\d{1,20}):([a-zA-Z0-9_.-]+)(?:\[\w+=\w+(?:, ?\w+=\w+)*\])?$/
const NS_PER_SECOND = 1_000_000_000n

/** Returns the marker at the end of a text that is followed by a carriage return, and the position at which it begins. */
export function markerAtEnd(text: string): { readonly marker: SectionMarker; readonly at: number } | undefined {
  const at = Math.max(text.lastIndexOf('section_start:'), text.lastIndexOf('section_end:'))
  const [, kind, seconds, name] = (at < 0 ? undefined : marker.exec(text.slice(at))) ?? []
  if (seconds === undefined || name === undefined) return undefined
  const timeNs = BigInt(seconds) * NS_PER_SECOND
  const isTime = timeNs > 0n && timeNs <= MAX_INTEGER
  return { at, marker: { kind: kind as SectionMarker['kind'], timeNs: isTime ? timeNs : undefined, name } }
}
