import type { ComponentChildren, Ref } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { rowHeights, visibleRows } from './row-window.ts'

/** The actions of a page on a list that it shows. */
export interface VirtualListHandle {
  /** Scrolls as little as needed to show a row. */
  readonly reveal: (index: number) => void
  readonly element: HTMLElement
}

interface VirtualListProps {
  readonly count: number
  /** The height of the rows in pixels. Pass the same function until heights change. */
  readonly rowHeight: number | ((index: number) => number)
  /** Renders a row. Its element needs a key, and `aria-rowindex` in a grid. */
  readonly row: (index: number) => ComponentChildren
  /** Rows that stay at the top while the others scroll. */
  readonly header?: ComponentChildren
  readonly headerHeight?: number
  readonly overscan?: number
  readonly class?: string
  readonly role?: 'treegrid' | 'grid' | 'table' | 'log' | 'list' | undefined
  readonly label?: string
  readonly rowCount?: number | undefined
  readonly isBusy?: boolean
  readonly tabIndex?: number | undefined
  readonly handle?: Ref<VirtualListHandle>
  readonly onKeyDown?: (event: KeyboardEvent) => void
  readonly onFocus?: (event: FocusEvent) => void
  /** Called when the last rows come near. */
  readonly onEnd?: () => void
}

/** A list that renders only the rows in view. It scrolls by itself, so it needs a height from its styles. */
export function VirtualList(props: VirtualListProps) {
  const { count, rowHeight, row, header, headerHeight = 0, overscan = 12, onEnd } = props
  const element = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 800 })
  const rows = useMemo(() => rowHeights(count, rowHeight), [count, rowHeight])

  useLayoutEffect(() => {
    const list = element.current
    if (list === null) return
    const measure = () => setView({ top: list.scrollTop, height: list.clientHeight })
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(list)
    list.addEventListener('scroll', measure, { passive: true })
    return () => {
      observer.disconnect()
      list.removeEventListener('scroll', measure)
    }
  }, [])

  useLayoutEffect(() => {
    const list = element.current
    if (list === null || props.handle == null) return
    const reveal = (index: number) => {
      const top = rows.offsetOf(index)
      const bottom = rows.offsetOf(index + 1)
      const shown = list.clientHeight - headerHeight
      if (top < list.scrollTop) list.scrollTop = top
      else if (bottom > list.scrollTop + shown) list.scrollTop = bottom - shown
    }
    const handle = { reveal, element: list }
    if (typeof props.handle === 'function') props.handle(handle)
    else props.handle.current = handle
  }, [rows, headerHeight, props.handle])

  const { first, end } = visibleRows(rows, view.top, view.height, overscan)
  const isAtEnd = end >= count
  useEffect(() => {
    if (isAtEnd && count > 0) onEnd?.()
  }, [isAtEnd, count, onEnd])

  const visible: ComponentChildren[] = []
  for (let index = first; index < end; index++) visible.push(row(index))
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: every caller sets a role
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: every caller sets a role
    <div
      ref={element}
      class={props.class}
      role={props.role}
      aria-label={props.label}
      aria-rowcount={props.rowCount}
      aria-busy={props.isBusy}
      tabIndex={props.tabIndex}
      onKeyDown={props.onKeyDown}
      onFocusCapture={props.onFocus}
    >
      {header}
      <div role="presentation" class="virtual" style={{ height: `${rows.total}px` }}>
        <div role="presentation" style={{ transform: `translateY(${rows.offsetOf(first)}px)` }}>
          {visible}
        </div>
      </div>
    </div>
  )
}
