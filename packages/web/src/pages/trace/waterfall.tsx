// biome-ignore-all lint/a11y/useSemanticElements: rows of a table cannot be virtual and a tree
// biome-ignore-all lint/a11y/useFocusableInteractive: the focus moves from row to row, not to cells
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { type KeyBinding, useKeys } from '../../app/keys.ts'
import { VirtualList, type VirtualListHandle } from '../../components/virtual-list.tsx'
import { place, setQuery } from '../../location.ts'
import { flowLines, indexFlow } from './flow.ts'
import { Legend } from './legend.tsx'
import { Minimap } from './minimap.tsx'
import { SpanRow } from './span-row.tsx'
import { Tools } from './tools.tsx'
import type { TraceModel } from './trace-model.ts'
import { nextFailure, unfoldTo, visibleRows } from './trace-rows.ts'
import type { TraceNode } from './trace-tree.ts'
import { useNarrow } from './use-narrow.ts'
import { panZoom, readZoom, scaleZoom, toTicks, wholeTrace, type Zoom, zoomText } from './zoom.ts'

interface WaterfallProps {
  readonly model: TraceModel
  readonly selectedId: string | undefined
  readonly onSelect: (id: string | undefined) => void
  /** Added to the number of spans while more of them are loaded. */
  readonly progress: string
}

const PAGE_ROWS = 20
const ROW = { wide: 28, wideLane: 50, narrow: 54, narrowLane: 72 }
const HEAD_PX = 28
/** The rows beyond the view that are rendered. Each has several bars, so a few less make scrolling cheaper. */
const OVERSCAN = 6

/** The spans as rows of a treegrid: stage lanes, bars on a common time axis, and the critical path. */
export function Waterfall({ model, selectedId, onSelect, progress }: WaterfallProps) {
  const { tree, path } = model
  const { query } = place.value
  const search = query.get('q') ?? ''
  const hasPath = query.get('path') !== '0'
  const failedOnly = query.get('failed') === '1'
  const zoom = readZoom(query.get('zoom'), tree.durationNs)
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set())
  const [activeId, setActiveId] = useState(selectedId)
  const wantsFocus = useRef(false)
  const list = useRef<VirtualListHandle>(null)
  const isNarrow = useNarrow()

  const rows = useMemo(() => visibleRows(tree, { folded, search, failedOnly }), [tree, folded, search, failedOnly])
  const flow = useMemo(() => indexFlow(flowLines(tree, path, rows, hasPath)), [tree, path, rows, hasPath])
  const rowHeight = useMemo(() => {
    const [plain, lane] = isNarrow ? [ROW.narrow, ROW.narrowLane] : [ROW.wide, ROW.wideLane]
    return (index: number) => (rows.rows[index]?.startsLane ? lane : plain)
  }, [rows, isNarrow])
  const ticks = useMemo(() => toTicks({ fromNs: zoom.fromNs, toNs: zoom.toNs }), [zoom.fromNs, zoom.toNs])

  const activeIndex = (activeId === undefined ? undefined : rows.indexById.get(activeId)) ?? 0
  const setZoom = (next: Zoom) => setQuery({ zoom: zoomText(next, tree.durationNs) }, { replace: true })
  const moveTo = (index: number) => {
    const to = Math.min(Math.max(0, index), rows.rows.length - 1)
    const node = rows.rows[to]?.node
    if (node === undefined) return
    wantsFocus.current = true
    setActiveId(node.span.id)
    list.current?.reveal(to)
  }
  const open = (index: number) => {
    const id = rows.rows[index]?.node.span.id
    wantsFocus.current = true
    setActiveId(id)
    onSelect(id)
  }
  const fold = (node: TraceNode) => {
    const next = new Set(folded)
    if (!next.delete(node.span.id)) next.add(node.span.id)
    wantsFocus.current = true
    setActiveId(node.span.id)
    setFolded(next)
  }
  /** Closes all rows below the roots, or opens all if one is closed. */
  const foldAll = () => {
    const inner = [...tree.nodes.values()].filter(({ parent, children }) => parent !== undefined && children.length > 0)
    setFolded(folded.size > 0 ? new Set() : new Set(inner.map(({ span }) => span.id)))
    list.current?.element.scrollTo({ top: 0 })
    setActiveId(undefined)
  }
  // A span that is named elsewhere on the page, or is the next failure, is brought into view.
  const [toReveal, setToReveal] = useState(selectedId)
  const latestActive = useRef(activeId)
  latestActive.current = activeId
  // Only when another span is selected: the keys move the active row away from the selected one.
  useEffect(() => {
    if (selectedId !== undefined && selectedId !== latestActive.current) setToReveal(selectedId)
  }, [selectedId])
  useEffect(() => {
    const node = toReveal === undefined ? undefined : tree.nodes.get(toReveal)
    if (node === undefined) return
    const index = rows.indexById.get(node.span.id)
    if (index === undefined) {
      setFolded((before) => unfoldTo(before, node))
      if (search !== '' || failedOnly) setQuery(noFilters, { replace: true })
      return
    }
    list.current?.reveal(index)
    setActiveId(node.span.id)
    setToReveal(undefined)
  }, [toReveal, tree, rows, search, failedOnly])
  // In a narrow window the pane takes space from the rows, so the selected row may have left the view.
  const indexById = useRef(rows.indexById)
  indexById.current = rows.indexById
  useEffect(() => {
    const index = selectedId === undefined ? undefined : indexById.current.get(selectedId)
    if (index === undefined) return
    list.current?.reveal(index)
    list.current?.element.scrollIntoView({ block: 'nearest' })
  }, [selectedId])
  const goToFailure = () => {
    const node = nextFailure(tree, activeId)
    if (node === undefined) return
    wantsFocus.current = true
    onSelect(node.span.id)
    setActiveId(node.span.id)
    setToReveal(node.span.id)
  }

  const actions = {
    down: () => moveTo(activeIndex + 1),
    up: () => moveTo(activeIndex - 1),
    failure: goToFailure,
    foldAll,
    failedOnly: () => setQuery({ failed: failedOnly ? null : '1' }, { replace: true }),
    path: () => setQuery({ path: hasPath ? '0' : null }, { replace: true }),
    zoomIn: () => setZoom(scaleZoom(zoom, 0.5, tree.durationNs)),
    zoomOut: () => setZoom(scaleZoom(zoom, 2, tree.durationNs)),
    fit: () => setZoom(wholeTrace(tree.durationNs)),
    close: () => onSelect(undefined),
  }
  const latest = useRef(actions)
  latest.current = actions
  useKeys(
    'Waterfall',
    useMemo(() => bindingsOf(latest), []),
  )

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const node = rows.rows[activeIndex]?.node
    if (node === undefined) return
    const isOpen = node.children.length > 0 && !folded.has(node.span.id)
    const keys: Record<string, (() => void) | undefined> = event.shiftKey
      ? {
          ArrowLeft: () => setZoom(panZoom(zoom, -0.25, tree.durationNs)),
          ArrowRight: () => setZoom(panZoom(zoom, 0.25, tree.durationNs)),
        }
      : {
          ArrowDown: actions.down,
          ArrowUp: actions.up,
          PageDown: () => moveTo(activeIndex + PAGE_ROWS),
          PageUp: () => moveTo(activeIndex - PAGE_ROWS),
          Home: () => moveTo(0),
          End: () => moveTo(rows.rows.length - 1),
          Enter: () => open(activeIndex),
          ' ': () => open(activeIndex),
          ArrowRight: () => (isOpen ? moveTo(activeIndex + 1) : node.children.length > 0 && fold(node)),
          ArrowLeft: () => (isOpen ? fold(node) : node.parent && moveTo(rows.indexById.get(node.parent.span.id) ?? 0)),
        }
    const run = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined
    if (run === undefined) return
    event.preventDefault()
    run()
  }

  return (
    <section
      class="water"
      aria-label="Waterfall"
      style={{ '--tick': ticks.linePercent, '--tick-first': ticks.firstLine }}
    >
      <Tools
        model={model}
        found={rows.found?.size}
        progress={progress}
        hasPath={hasPath}
        failedOnly={failedOnly}
        actions={actions}
      />
      <Minimap tree={tree} path={path} zoom={zoom} onZoom={setZoom} />
      {rows.rows.length === 0 ? (
        <NothingFound search={search} />
      ) : (
        <VirtualList
          class="spans"
          role="treegrid"
          label="Spans"
          count={rows.rows.length}
          rowCount={rows.rows.length + 1}
          rowHeight={rowHeight}
          headerHeight={isNarrow ? 0 : HEAD_PX}
          overscan={OVERSCAN}
          tabIndex={-1}
          handle={list}
          onKeyDown={onKeyDown}
          header={<Header ticks={ticks} />}
          row={(index) => {
            const row = rows.rows[index]!
            const { id } = row.node.span
            return (
              <SpanRow
                key={id}
                row={row}
                index={index}
                pathNs={hasPath ? path.get(id) : undefined}
                isFolded={rows.found === undefined && folded.has(id)}
                isSelected={id === selectedId}
                isActive={index === activeIndex}
                zoom={zoom}
                lines={flow.linesAt(index)}
                wantsFocus={wantsFocus}
                onOpen={open}
                onFold={fold}
              />
            )
          }}
        />
      )}
      <Legend />
    </section>
  )
}

const noFilters = { q: null, failed: null }

function NothingFound({ search }: { readonly search: string }) {
  return (
    <div class="blank">
      <h3>{search === '' ? 'No span failed' : 'No such span'}</h3>
      <p class="soft">
        The search looks at names, stages, services, statuses, runners and ids. <b>Only failed</b> leaves out all
        others.
      </p>
      <button class="btn" type="button" onClick={() => setQuery(noFilters, { replace: true })}>
        Show all spans
      </button>
    </div>
  )
}

function bindingsOf(latest: { readonly current: Readonly<Record<string, () => void>> }): KeyBinding[] {
  const binding = (keys: string, label: string, action?: string): KeyBinding => ({
    keys,
    label,
    run: () => (action === undefined ? undefined : latest.current[action]?.()),
  })
  return [
    binding('j', 'Next row', 'down'),
    binding('k', 'Previous row', 'up'),
    // The treegrid itself listens to these, so they are only listed here.
    binding('← →', 'Close and open a row'),
    binding('z', 'Close or open all rows', 'foldAll'),
    binding('⏎', 'Select a row'),
    binding('Shift ← →', 'Move the zoomed part'),
    binding('e', 'Next failure', 'failure'),
    binding('f', 'Only failed spans', 'failedOnly'),
    binding('c', 'Critical path', 'path'),
    binding('+', 'Zoom in', 'zoomIn'),
    binding('-', 'Zoom out', 'zoomOut'),
    binding('0', 'Show the whole trace', 'fit'),
    binding('Escape', 'Close the pane', 'close'),
  ]
}

function Header({ ticks }: { readonly ticks: ReturnType<typeof toTicks> }) {
  return (
    <div role="row" class="shead" aria-rowindex={1}>
      <div role="columnheader">Span</div>
      <div role="columnheader" class="vh">
        Stage
      </div>
      <div role="columnheader" class="num d">
        Duration
      </div>
      <div role="columnheader" class="num p">
        On path
      </div>
      <div role="columnheader" class="axis">
        <span class="vh">Timeline</span>
        {ticks.labels.map(({ ns, x, text }) =>
          x > 97 ? null : (
            <span key={ns} class="tick" aria-hidden="true" style={{ '--x': x }}>
              {text}
            </span>
          ),
        )}
      </div>
    </div>
  )
}
