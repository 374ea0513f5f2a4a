import { useEffect, useMemo } from 'preact/hooks'
import { keptFilters } from '../../app/kept-filters.ts'
import { section } from '../../app/section.ts'
import { Blank, Failure, Notice, useDelayed } from '../../components/page-states.tsx'
import { numberText } from '../../components/text.tsx'
import { place, setQuery } from '../../location.ts'
import type { PageProps } from '../../page-props.ts'
import { Pane } from './pane.tsx'
import { TraceHead } from './trace-head.tsx'
import { modelTrace } from './trace-model.ts'
import { useTrace } from './use-trace.ts'
import { Waterfall } from './waterfall.tsx'
import './page.css'
import './waterfall.css'
import './bars.css'
import './tools.css'
import './pane.css'

/** The page Trace: what happened, the waterfall, and the selected span. */
export default function Page({ params }: PageProps) {
  const traceId = params.traceId ?? ''
  const trace = useTrace(traceId)
  const isLong = useDelayed(trace.resourceSpans === undefined && trace.isLoading)
  const model = useMemo(
    () => (trace.resourceSpans === undefined ? undefined : modelTrace(trace.resourceSpans)),
    [trace.resourceSpans],
  )
  const selectedId = place.value.query.get('span') ?? undefined
  const selected = selectedId === undefined ? undefined : model?.tree.nodes.get(selectedId)
  const select = (id: string | undefined) => setQuery({ span: id ?? null }, { replace: true })
  const isKnown = model !== undefined || trace.error !== undefined
  const isRun = model?.root?.span.kind === 'pipeline'
  useEffect(() => {
    section.value = isRun ? '/pipelines' : isKnown ? '/traces' : null
  }, [isKnown, isRun])
  useEffect(
    () => () => {
      section.value = null
    },
    [],
  )
  const title = model?.root?.span.name
  useEffect(() => {
    if (title !== undefined) document.title = `${title.slice(0, 80)} · Penstock`
  }, [title])

  if (model === undefined) {
    return (
      <div class="trace-page">
        <div class="head">
          <div>
            {isKnown ? null : <div class="crumbs">&nbsp;</div>}
            <h1>Trace</h1>
          </div>
        </div>
        {isKnown ? null : (
          // The space of the facts and of the sentence, so that the waterfall stays in its place.
          <>
            <div class="facts unknown">&nbsp;</div>
            <p class="lede-space">&nbsp;</p>
          </>
        )}
        <div class="panel">
          {trace.error === undefined ? (
            <Loading isLong={isLong} />
          ) : trace.error.status === 404 || trace.error.status === 400 ? (
            <NotStored traceId={traceId} />
          ) : (
            <Failure title="The trace could not be loaded." error={trace.error} onRetry={trace.reload} />
          )}
        </div>
      </div>
    )
  }
  return (
    <div class="trace-page">
      <TraceHead traceId={traceId} model={model} onSelect={select} />
      {trace.error !== undefined ? (
        <Failure title="Only the first spans could be loaded." error={trace.error} onRetry={trace.reload} />
      ) : trace.isCut ? (
        <Notice meaning="warning">
          This trace has more spans than the page shows. The first {numberText(trace.received)} are shown, and{' '}
          <b>Raw OTLP</b> has the others.
        </Notice>
      ) : null}
      {model.tree.nodes.size === 0 ? (
        <div class="panel">
          <Blank title="No spans">The store knows this trace, but none of its spans.</Blank>
        </div>
      ) : (
        <div class={selected === undefined ? 'trace solo' : 'trace'}>
          <Waterfall
            key={traceId}
            model={model}
            selectedId={selectedId}
            onSelect={select}
            progress={trace.isLoading ? `, loading more` : ''}
          />
          {selected === undefined ? null : (
            <Pane traceId={traceId} tree={model.tree} node={selected} onClose={() => select(undefined)} />
          )}
        </div>
      )}
    </div>
  )
}

function NotStored({ traceId }: { readonly traceId: string }) {
  return (
    <Blank
      title="No such trace is stored"
      action={
        <a class="btn" href={keptFilters.addressOfPath('/pipelines', place.value)}>
          Go to Pipelines
        </a>
      }
    >
      No span of <code>{traceId.slice(0, 64)}</code> is stored. The store may have deleted it because of its age, or it
      has not arrived yet.
    </Blank>
  )
}

const SKELETON_ROWS = 12

function Loading({ isLong }: { readonly isLong: boolean }) {
  return (
    <div class="trace-loading" aria-busy="true">
      <span class="vh" role="status">
        {isLong ? 'Loading the trace' : ''}
      </span>
      {isLong
        ? Array.from({ length: SKELETON_ROWS }, (_, index) => (
            <div key={index}>
              <span class="skeleton" style={{ width: `${8 + ((index * 5) % 9)}%` }} />
              <span
                class="skeleton"
                style={{ width: `${12 + ((index * 23) % 40)}%`, 'margin-left': `${14 + index * 2}%` }}
              />
            </div>
          ))
        : null}
    </div>
  )
}
