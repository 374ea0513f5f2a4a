import { fitted } from '../text/display-width.ts'
import { formatTime } from '../text/duration.ts'
import type { Palette, Style } from '../text/palette.ts'
import { counted, printable } from '../text/wording.ts'
import { marks } from './span-row.ts'
import type { TreeRow } from './span-rows.ts'

/** The number of failed jobs that are named. The others are counted. */
const failuresNamed = 5
const labelWidth = 'request  '.length
const shaDigits = 8

interface HeaderLine {
  readonly label: string
  readonly text: string
  readonly style?: Style
  /** Whether the text must not be truncated, so that a terminal can open a URL in it. */
  readonly whole?: true
}

/**
 * Returns the lines above the waterfall of a trace, about its first pipeline: the failures, then the upstream pipeline
 * and the user.
 */
export function traceHeader(
  { traceId, startNs }: { readonly traceId: string; readonly startNs: bigint },
  rows: readonly TreeRow[],
  { width, palette }: { readonly width: number; readonly palette: Palette },
): string[] {
  const first = rows[0]
  const pipeline = first?.row.isPipeline ? first : undefined
  const texts = new Map(pipeline?.span.attributes.map(({ key, value }) => [key, String(value)]))
  const lines: readonly HeaderLine[] = [
    { label: 'trace', text: traceId, style: 'dim' },
    ...failureLines(rows, texts),
    { label: 'started', text: startLine(formatTime(startNs), texts) },
    { label: 'commit', text: commitLine(texts) },
    { label: 'request', text: requestLine(texts) },
    { label: 'url', text: texts.get('pipeline.url') ?? '', whole: true },
  ]
  return lines
    .filter(({ text }) => text !== '')
    .map(({ label, text, style, whole }) => {
      const line = printable(text)
      const shown = whole ? line : fitted(line, width - labelWidth)
      return `${palette('dim', label.padEnd(labelWidth))}${style === undefined ? shown : palette(style, shown)}`
    })
}

type Texts = ReadonlyMap<string, string>

function failureLines(rows: readonly TreeRow[], pipeline: Texts): HeaderLine[] {
  const failed = rows.filter(({ row, isReplaced }) => row.job !== undefined && row.mark === marks.failed && !isReplaced)
  const failures = failed.slice(0, failuresNamed).map(({ row }) => {
    const stage = row.stage === '' ? '' : ` (${row.stage})`
    return `${row.name}${stage}${reasonText(row.detail)}`
  })
  const rest = failed.length - failures.length
  if (rest > 0) failures.push(`… and ${counted(rest, 'more job')}`)
  if (failed.length === 0 && pipeline.get('pipeline.status') === 'failed')
    failures.push(`the pipeline${reasonText(pipeline.get('error.type') ?? '')}`)
  return failures.map((text, at) => ({ label: at === 0 ? 'failed' : '', text, style: marks.failed.style }))
}

/** The error type that semantic conventions use for failures without a known reason. It is not printed. */
const unknownReason = '_OTHER'
const reasonText = (reason: string): string => (reason === '' || reason === unknownReason ? '' : `: ${reason}`)

function startLine(time: string, texts: Texts): string {
  const user = texts.get('pipeline.user.username')
  const ref = texts.get('pipeline.ref')
  return `${time}${user === undefined ? '' : ` by ${user}`}${ref === undefined ? '' : ` on ${ref}`}`
}

function commitLine(texts: Texts): string {
  const sha = texts.get('pipeline.sha')?.slice(0, shaDigits)
  const [title] = (texts.get('pipeline.commit.message') ?? '').split(/\r?\n/, 1)
  return [sha, title].filter(Boolean).join(' ')
}

function requestLine(texts: Texts): string {
  const iid = texts.get('pipeline.merge_request.iid')
  if (iid === undefined) return ''
  const state = texts.get('vcs.change.state')
  return [`!${iid}`, texts.get('vcs.change.title'), state && `(${state})`].filter(Boolean).join(' ')
}
