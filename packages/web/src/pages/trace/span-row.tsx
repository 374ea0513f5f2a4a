// biome-ignore-all lint/a11y/useSemanticElements: rows of a table cannot be virtual and a tree
// biome-ignore-all lint/a11y/useFocusableInteractive: the focus moves from row to row, not to cells
import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { StatusIcon } from '../../components/status.tsx'
import type { FlowLine } from './flow.ts'
import type { Row } from './trace-rows.ts'
import type { TraceSpan } from './trace-span.ts'
import { durationText, laneText, nameText, reasonText, statusLooks } from './trace-text.ts'
import type { TraceNode } from './trace-tree.ts'
import { percentAt, rounded, toBar, type Zoom } from './zoom.ts'

interface SpanRowProps {
  readonly row: Row
  readonly index: number
  /** Exclusive nanoseconds; `undefined` if the span is not on the path, or the path is not shown. */
  readonly pathNs: number | undefined
  readonly isFolded: boolean
  readonly isSelected: boolean
  readonly isActive: boolean
  readonly zoom: Zoom
  readonly lines: readonly FlowLine[]
  /** True when the active row has to take the focus. */
  readonly wantsFocus: RefObject<boolean>
  readonly onOpen: (index: number) => void
  readonly onFold: (node: TraceNode) => void
}

/** Deeper rows are not indented further, so that their names stay in view. */
const MAX_INDENT = 12

/** A span in the waterfall: its name, stage, duration, time on the critical path, and its bar. */
export function SpanRow(props: SpanRowProps) {
  const { row, index, pathNs, isFolded, isSelected, isActive, wantsFocus } = props
  const { node } = row
  const { span } = node
  const element = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (!isActive || !wantsFocus.current) return
    wantsFocus.current = false
    element.current?.focus({ preventScroll: true })
  })
  useLayoutEffect(() => {
    const own = element.current
    // A focused row that is scrolled away leaves the focus to its list, so that keys go on working.
    return () => {
      if (own !== null && document.activeElement === own) {
        own.closest<HTMLElement>('[role="treegrid"]')?.focus({ preventScroll: true })
      }
    }
  }, [])
  const open = (event: MouseEvent) => {
    if ((event.target as Element).closest('.twist') !== null && node.children.length > 0) props.onFold(node)
    else props.onOpen(index)
  }
  const classes = [
    row.startsLane ? 'lane' : '',
    node.childLevel === undefined ? '' : 'kid',
    pathNs === undefined ? '' : 'on',
  ]
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the treegrid listens to keys
    <div
      ref={element}
      role="row"
      class={classes.filter((name) => name !== '').join(' ')}
      aria-level={node.level}
      aria-rowindex={index + 2}
      aria-expanded={node.children.length === 0 ? undefined : !isFolded}
      aria-selected={isSelected}
      tabIndex={isActive ? 0 : -1}
      style={{ '--l': Math.min(node.level - 1, MAX_INDENT), '--kl': Math.min((node.childLevel ?? 1) - 1, MAX_INDENT) }}
      onClick={open}
    >
      <NameCell node={node} isFolded={isFolded} />
      <div role="gridcell" class="st">
        <bdi>{row.startsLane ? laneText(node.lane!) : nameText(span.stage ?? '–')}</bdi>
      </div>
      <div role="gridcell" class="d">
        {span.executed ? durationText(span.endNs - span.startNs) : <span class="zero">–</span>}
      </div>
      <div role="gridcell" class="p">
        {pathNs === undefined || pathNs === 0 ? '' : durationText(pathNs)}
      </div>
      <Timeline {...props} span={span} />
    </div>
  )
}

function NameCell({ node, isFolded }: { readonly node: TraceNode; readonly isFolded: boolean }) {
  const { span, attempt } = node
  const { label, meaning } = statusLooks[span.status]
  const name = nameText(span.name)
  const prefix = /^job: /.exec(name)?.[0] ?? ''
  const tags = [
    span.kind === 'bridge' ? 'bridge' : '',
    span.kind === 'pipeline' && node.parent !== undefined ? 'child' : '',
    attempt === undefined ? '' : `attempt ${attempt.number} of ${attempt.of}`,
  ]
  return (
    <div role="gridcell" class="n">
      {node.children.length === 0 ? <span class="twist" /> : <Twist isFolded={isFolded} />}
      {label === '' ? null : (
        <span class={`is-${meaning} status-mark`}>
          <StatusIcon meaning={meaning} />
        </span>
      )}
      <bdi class="label cut" title={name.length > 30 ? name : undefined}>
        {prefix === '' ? null : <span class="pre">{prefix}</span>}
        {name.slice(prefix.length)}
      </bdi>
      {tags.map((tag) => (tag === '' ? null : <span class="tag">{tag}</span>))}
      {label === '' ? null : <span class="vh">, {label}</span>}
    </div>
  )
}

function Twist({ isFolded }: { readonly isFolded: boolean }) {
  return (
    <svg class="twist" viewBox="0 0 16 16" aria-hidden="true">
      <path d={isFolded ? 'm5.5 3 5 5-5 5' : 'm3 5.5 5 5 5-5'} fill="none" stroke="currentColor" stroke-width="1.6" />
    </svg>
  )
}

function Timeline({ span, zoom, lines, index }: SpanRowProps & { readonly span: TraceSpan }) {
  const wait = span.queuedNs > 0 && span.executed ? toBar(span.startNs - span.queuedNs, span.startNs, zoom) : undefined
  const run = span.executed ? toBar(span.startNs, span.endNs, zoom) : undefined
  const none = span.executed ? undefined : toBar(span.startNs, span.startNs, zoom)
  const why = reasonText(span)
  const at = run ?? none
  const shape = span.kind === 'pipeline' || span.kind === 'stage' ? 'pipe' : span.kind === 'bridge' ? 'bridge' : ''
  const look = span.status === 'none' ? 'plain' : statusLooks[span.status].meaning
  return (
    <div role="gridcell" class="t">
      <span class="vh">
        queued {durationText(span.queuedNs)}, starts at {durationText(span.startNs)}
      </span>
      {wait === undefined ? null : <span class="wait" style={{ '--x': wait.x, '--w': wait.w }} />}
      {run === undefined ? null : <span class={`run ${look} ${shape}`} style={{ '--x': run.x, '--w': run.w }} />}
      {none === undefined ? null : <span class="none" style={{ '--x': none.x }} />}
      {why === undefined || at === undefined ? null : (
        <bdi
          class={`why ${why.isFailure ? '' : 'plain'} ${at.x + at.w > 70 ? (at.x > 30 ? 'left' : 'inside') : ''}`}
          style={{ '--x': Math.max(0, at.x), '--w': none === undefined ? at.w : 3 }}
        >
          {why.text}
        </bdi>
      )}
      {lines.map((line) => {
        const x = rounded(percentAt(line.atNs, zoom))
        if (x < 0 || x > 100) return null
        const end = line.firstRow === index ? 'first' : line.lastRow === index ? 'last' : ''
        return (
          <i
            key={`${line.kind}${line.firstRow}-${line.lastRow}`}
            class={`flow-line ${line.kind} ${end}`}
            style={{ '--x': x }}
          />
        )
      })}
    </div>
  )
}
