import { hash } from 'node:crypto'
import { isErrorMarker, isRunnerMessage } from './error-markers.ts'
import { MASK } from './mask-secrets.ts'

/** The parts of lines that differ between two runs with the same failure, in the order in which they are replaced. */
export const variableParts = [
  { what: 'masked secrets', pattern: /\[MASKED\]|\*{3,}/g, replacement: '<masked>' },
  {
    what: 'dates and times',
    pattern:
      /\d{4}[-/]\d\d?[-/]\d\d?(?:[T ]\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?)?(?: ?Z|[+-]\d\d:?\d\d)?|\b\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?\b/g,
    replacement: '<time>',
  },
  {
    what: 'ids in hexadecimal with hyphens (UUID)',
    pattern: /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi,
    replacement: '<id>',
  },
  { what: 'addresses', pattern: /\b0x[0-9a-f]+\b/gi, replacement: '<id>' },
  {
    what: 'hashes: 7 or more hexadecimal digits, one of them from 0 to 9',
    pattern: /\b(?=[a-f]{0,64}\d)[0-9a-f]{7,128}\b/gi,
    replacement: '<id>',
  },
  {
    what: 'directories of temporary files, and of runners',
    pattern: /(\/tmp\/|\/var\/folders\/|\/builds\/)[^\s/:'")]+(?:\/\d+(?=\/))?/g,
    replacement: '$1<path>',
  },
  {
    what: 'durations',
    pattern: /\b\d+(?:[.,]\d+)? ?(?:ns|[mµu]?s|secs?|seconds?|m|mins?|minutes?|h|hours?)\b/g,
    replacement: '<duration>',
  },
  {
    what: 'numbers, except codes such as `TS2304`',
    pattern: /\b([A-Z]{1,5}\d{3,5})\b|\d+(?:[.,]\d+)*/g,
    replacement: (number: string, code: string | undefined): string => code ?? (number === '' ? '' : '<n>'),
  },
  { what: 'runs of spaces', pattern: /\s+/g, replacement: ' ' },
] as const

/** The number of lines that make up a fingerprint. */
const MAX_LINES = 20
/** The number of last lines for a failure without an error marker. */
const LINES_WITHOUT_MARKER = 5
const DIGITS = 16

/**
 * Returns 16 hex digits that are the same for the same failure in different runs: a hash of the lines with error markers, without
 * what differs between runs, and without their order, which differs if tests run at the same time.
 *
 * @param lines the failing lines, without secrets and escape sequences
 */
export function failureFingerprint(lines: readonly string[]): string {
  const marked = lines.filter(isErrorMarker)
  const others = lines.filter((line) => !isRunnerMessage(line) && line.trim() !== '')
  const chosen = marked.length > 0 ? marked : others.length > 0 ? others.slice(-LINES_WITHOUT_MARKER) : lines
  const constant = [...new Set(chosen.map(withoutVariableParts))].sort().slice(0, MAX_LINES)
  return hash('sha256', `job-failure\n1\n${constant.join('\n')}`, 'hex').slice(0, DIGITS)
}

/** Returns the line with a placeholder for each part that differs between runs. */
export function withoutVariableParts(line: string): string {
  let text = line.replaceAll(MASK, '<masked>')
  for (const { pattern, replacement } of variableParts) text = text.replace(pattern, replacement as string)
  return text.trim()
}
