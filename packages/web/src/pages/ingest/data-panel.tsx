import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Failure, useDelayed } from '../../components/page-states.tsx'
import type { Resource } from '../../components/resource.ts'

interface DataPanelProps<T> {
  readonly title: string
  /** The end of the header. */
  readonly end?: ComponentChildren
  readonly resource: Pick<Resource<T>, 'data' | 'error' | 'isLoading' | 'reload'>
  /** The failure to load, as a sentence. */
  readonly failure: string
  readonly skeleton: ComponentChildren
  /** The ids of the rows: if the one with the focus goes away, the focus moves to the title. */
  readonly rowIds?: readonly string[] | undefined
  readonly children: (data: T) => ComponentChildren
}

/** A panel with a title: its data, their skeleton, or why they are missing. A failed refresh keeps the old data. */
export function DataPanel<T>({ title, end, resource, failure, skeleton, rowIds, children }: DataPanelProps<T>) {
  const id = useId()
  const heading = useKeptFocus(rowIds)
  const { data, error } = resource
  const isLong = useDelayed(data === undefined && error === undefined)
  return (
    <section class="panel" aria-labelledby={id}>
      <header>
        <h2 id={id} ref={heading} tabIndex={-1}>
          {title}
        </h2>
        <span class="end soft">{end}</span>
      </header>
      {error === undefined ? null : <Failure title={failure} error={error} onRetry={resource.reload} />}
      {data === undefined ? (
        // The skeleton keeps its place before it is visible, so that nothing moves.
        error === undefined && <div class={isLong ? 'panel-data' : 'panel-data waiting'}>{skeleton}</div>
      ) : (
        <div class="panel-data">{children(data)}</div>
      )}
    </section>
  )
}

/** Returns the ref of an element that takes the focus if it was on a row that is gone. */
function useKeptFocus(rowIds: readonly string[] | undefined) {
  const target = useRef<HTMLHeadingElement>(null)
  const before = useRef(rowIds)
  useEffect(() => {
    const hasLostRow = rowIds !== undefined && before.current?.some((id) => !rowIds.includes(id))
    before.current = rowIds
    if (hasLostRow && document.activeElement === document.body) target.current?.focus({ preventScroll: true })
  }, [rowIds?.join(' ')])
  return target
}
