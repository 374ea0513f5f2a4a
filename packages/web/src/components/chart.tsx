import { useEffect, useRef, useState } from 'preact/hooks'
import type { ChartSpec } from './chart-canvas.ts'

export type { ChartSeries, ChartSpec } from './chart-canvas.ts'

interface ChartProps {
  /** A sentence that says what is drawn. The same numbers have to be in a table beside it. */
  readonly label: string
  /** The drawing. Pass the same object until it changes. */
  readonly spec: ChartSpec
  /** Called with the index of the values under the pointer, or null. */
  readonly onHover?: (index: number | null) => void
  /** Called with the index of the values that were clicked. */
  readonly onSelect?: (index: number) => void
}

/** A chart over time. The library that draws it is loaded with the first chart; the space is there from the beginning. */
export function Chart({ label, spec, onHover, onSelect }: ChartProps) {
  const host = useRef<HTMLDivElement>(null)
  const listeners = useRef({ onHover, onSelect })
  listeners.current = { onHover, onSelect }
  const [scheme, setScheme] = useState(0)
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)')
    const change = () => setScheme((before) => before + 1)
    query.addEventListener('change', change)
    return () => query.removeEventListener('change', change)
  }, [])
  useEffect(() => {
    let remove: (() => void) | undefined
    let isGone = false
    void import('./chart-canvas.ts').then(({ drawChart }) => {
      if (isGone || host.current === null) return
      remove = drawChart(host.current, spec, {
        onHover: (index) => listeners.current.onHover?.(index),
        onSelect: (index) => listeners.current.onSelect?.(index),
      })
    })
    return () => {
      isGone = true
      remove?.()
    }
  }, [spec, scheme])
  return (
    <div
      ref={host}
      class={onSelect === undefined ? 'chart' : 'chart can-select'}
      role="img"
      aria-label={label}
      style={{ height: `${spec.height}px` }}
    />
  )
}
