import { useEffect, useRef, useState } from 'preact/hooks'
import { place, setQuery } from '../../location.ts'
import type { TraceModel } from './trace-model.ts'
import { counted } from './trace-text.ts'

interface ToolsProps {
  readonly model: TraceModel
  /** How many spans the search and the filter found; `undefined` without both. */
  readonly found: number | undefined
  readonly progress: string
  readonly hasPath: boolean
  readonly failedOnly: boolean
  readonly actions: Readonly<Record<'failure' | 'failedOnly' | 'path' | 'zoomIn' | 'zoomOut' | 'fit', () => void>>
}

const TYPING_MS = 200

/** The controls above the waterfall: search, critical path, failures, a summary, and zoom. */
export function Tools({ model, found, progress, hasPath, failedOnly, actions }: ToolsProps) {
  const total = model.tree.nodes.size
  const spans =
    found === undefined ? counted(total, 'span') : `${found.toLocaleString('en')} of ${counted(total, 'span')}`
  const failed = model.failed === 0 ? '' : `, ${model.failed.toLocaleString('en')} failed`
  return (
    <div class="tools">
      <SearchField />
      <label class="check">
        <input type="checkbox" checked={hasPath} onChange={actions.path} />
        Critical path
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={failedOnly}
          disabled={model.failed === 0 && !failedOnly}
          onChange={actions.failedOnly}
        />
        Only failed
      </label>
      <span class="dim" role="status">
        {spans}
        {failed}
        {progress}
      </span>
      <div class="end">
        <button class="btn small" type="button" disabled={model.failed === 0} onClick={actions.failure}>
          Next failure
        </button>
        <button class="btn small opt" type="button" aria-label="Zoom out" onClick={actions.zoomOut}>
          −
        </button>
        <button class="btn small opt" type="button" aria-label="Zoom in" onClick={actions.zoomIn}>
          +
        </button>
        <button class="btn small opt" type="button" onClick={actions.fit}>
          Fit
        </button>
      </div>
    </div>
  )
}

/** The search. It is applied after a short pause, because a large trace is searched again with each change. */
function SearchField() {
  const applied = place.value.query.get('q') ?? ''
  const [text, setText] = useState(applied)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => setText(applied), [applied])
  useEffect(() => () => clearTimeout(timer.current), [])
  const change = (next: string) => {
    setText(next)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setQuery({ q: next }, { replace: true }), TYPING_MS)
  }
  return (
    <>
      <label class="vh" for="span-search">
        Search in spans
      </label>
      <input
        id="span-search"
        type="search"
        placeholder="Search in spans"
        value={text}
        onInput={(event) => change(event.currentTarget.value)}
      />
    </>
  )
}
