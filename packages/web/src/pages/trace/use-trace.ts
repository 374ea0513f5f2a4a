import { useCallback, useEffect, useState } from 'preact/hooks'
import { ApiError, getPage } from '../../api/client.ts'
import type { WireResourceSpans } from '../../api/otlp-json.ts'

/** A trace as it is being loaded. */
export interface LoadingTrace {
  /** `undefined` until the first page is there. */
  readonly resourceSpans: readonly WireResourceSpans[] | undefined
  readonly error: ApiError | undefined
  readonly isLoading: boolean
  /** How many spans have arrived; those of further pages are shown when the last one is there. */
  readonly received: number
  /** Whether the trace has more spans than were loaded. */
  readonly isCut: boolean
  readonly reload: () => void
}

/** More spans than this are not loaded, because the browser has to hold all of them. */
export const MAX_SPANS = 100_000

/** Small pages show the first rows early, and other queries of the store wait less. */
const SPANS_PER_PAGE = '2000'

interface Answer {
  readonly resourceSpans?: readonly WireResourceSpans[]
  readonly truncated?: boolean
}

type State = Omit<LoadingTrace, 'reload'>

const nothing: State = { resourceSpans: undefined, error: undefined, isLoading: true, received: 0, isCut: false }

/** Loads the pages of a trace one after the other. The first page is shown at once. */
export function useTrace(traceId: string): LoadingTrace {
  const [state, setState] = useState<State>(nothing)
  const [round, setRound] = useState(0)
  useEffect(() => {
    const controller = new AbortController()
    setState((before) => ({ ...before, isLoading: true, error: undefined }))
    loadTrace(traceId, controller.signal, setState).catch((error: unknown) => {
      if (controller.signal.aborted) return
      const known = error instanceof ApiError ? error : new ApiError(String(error), 0)
      setState((before) => ({ ...before, isLoading: false, error: known }))
    })
    return () => controller.abort()
  }, [traceId, round])
  const reload = useCallback(() => setRound((before) => before + 1), [])
  return { ...state, reload }
}

async function loadTrace(traceId: string, signal: AbortSignal, show: (state: State) => void): Promise<void> {
  const path = `/api/v1/observe/traces/${encodeURIComponent(traceId)}`
  const loaded: WireResourceSpans[] = []
  let received = 0
  let cursor: string | null = null
  do {
    const page: { items: unknown; nextCursor: string | null } = await getPage(
      path,
      { limit: SPANS_PER_PAGE, cursor },
      signal,
    )
    const { resourceSpans = [], truncated = false } = page.items as Answer
    const isFirst = cursor === null
    cursor = page.nextCursor
    loaded.push(...resourceSpans)
    received += countSpans(resourceSpans)
    const hasMore = cursor !== null && received < MAX_SPANS
    const isCut = cursor === null ? truncated : !hasMore
    if (isFirst || !hasMore) {
      show({ resourceSpans: [...loaded], error: undefined, isLoading: hasMore, received, isCut })
    }
    if (!hasMore) return
  } while (!signal.aborted)
}

const countSpans = (resourceSpans: readonly WireResourceSpans[]): number =>
  resourceSpans.reduce(
    (sum, { scopeSpans = [] }) => sum + scopeSpans.reduce((spans, scope) => spans + (scope.spans?.length ?? 0), 0),
    0,
  )
