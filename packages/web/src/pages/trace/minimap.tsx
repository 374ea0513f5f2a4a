import { useMemo, useRef, useState } from 'preact/hooks'
import type { CriticalPath } from './critical-path.ts'
import { minimapShapes } from './minimap-shape.ts'
import { durationText } from './trace-text.ts'
import type { TraceTree } from './trace-tree.ts'
import { clampZoom, isWhole, percentAt, rounded, wholeTrace, type Zoom } from './zoom.ts'

interface MinimapProps {
  readonly tree: TraceTree
  readonly path: CriticalPath
  readonly zoom: Zoom
  readonly onZoom: (zoom: Zoom) => void
}

/** Returns the zoom after a drag, which moves an edge of the window or the window, or draws a new one. */
type Drag = (ns: number) => Zoom

const GRIP_PX = 8
const CLICK_PX = 4

/** The whole trace in small. Dragging chooses the part that the timeline shows; a double click shows all of it. */
export function Minimap({ tree, path, zoom, onZoom }: MinimapProps) {
  const element = useRef<HTMLDivElement>(null)
  const [draft, setDraft] = useState<Zoom>()
  const drag = useRef<{ readonly move: Drag; readonly fromX: number } | undefined>(undefined)
  const shapes = useMemo(() => minimapShapes(tree, path), [tree, path])
  const whole = wholeTrace(tree.durationNs)
  const shown = draft ?? zoom
  const timeAt = (event: PointerEvent) => {
    const { left, width } = element.current!.getBoundingClientRect()
    return { ns: ((event.clientX - left) / width) * whole.toNs, gripNs: (GRIP_PX / width) * whole.toNs }
  }
  const begin = (event: PointerEvent) => {
    if (event.button !== 0) return
    element.current!.setPointerCapture(event.pointerId)
    const { ns, gripNs } = timeAt(event)
    drag.current = { move: dragOf(zoom, ns, gripNs, tree.durationNs), fromX: event.clientX }
  }
  const move = (event: PointerEvent) => {
    if (drag.current === undefined || Math.abs(event.clientX - drag.current.fromX) < CLICK_PX) return
    setDraft(clampZoom(drag.current.move(timeAt(event).ns), tree.durationNs))
  }
  const end = () => {
    drag.current = undefined
    if (draft !== undefined) onZoom(draft)
    setDraft(undefined)
  }
  const left = rounded(percentAt(shown.fromNs, whole))
  const right = rounded(100 - percentAt(shown.toNs, whole))
  return (
    <div class="mini-wrap">
      <span class="cap" aria-hidden="true">
        Drag to zoom
      </span>
      <div
        ref={element}
        class="mini"
        role="img"
        aria-label={
          isWhole(shown, tree.durationNs)
            ? 'Minimap: the whole trace is in view'
            : `Minimap: ${durationText(shown.fromNs)} to ${durationText(shown.toNs)} of ${durationText(tree.durationNs)} in view`
        }
        onPointerDown={begin}
        onPointerMove={move}
        onPointerUp={end}
        onPointerCancel={end}
        onDblClick={() => onZoom(whole)}
      >
        <svg viewBox="0 0 1000 30" preserveAspectRatio="none" aria-hidden="true">
          {shapes.map((shape) => (
            <path
              key={`${shape.meaning}${shape.onPath}`}
              class={`f-${shape.meaning}`}
              opacity={shape.onPath ? 1 : 0.55}
              d={shape.path}
            />
          ))}
        </svg>
        <span class="window" style={{ left: `${left}%`, right: `${right}%` }} />
      </div>
    </div>
  )
}

function dragOf(zoom: Zoom, fromNs: number, gripNs: number, durationNs: number): Drag {
  const between = (a: number, b: number): Zoom => ({ fromNs: Math.min(a, b), toNs: Math.max(a, b) })
  if (Math.abs(fromNs - zoom.fromNs) <= gripNs) return (ns) => between(ns, zoom.toNs)
  if (Math.abs(fromNs - zoom.toNs) <= gripNs) return (ns) => between(zoom.fromNs, ns)
  const isInside = !isWhole(zoom, durationNs) && fromNs > zoom.fromNs && fromNs < zoom.toNs
  if (!isInside) return (ns) => between(Math.max(0, fromNs), Math.max(0, ns))
  return (ns) => ({ fromNs: zoom.fromNs + ns - fromNs, toNs: zoom.toNs + ns - fromNs })
}
