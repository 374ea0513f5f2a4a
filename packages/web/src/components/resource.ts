import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, type Page } from '../api/client.ts'

/** Data that a page loads, and the state of loading it. */
export interface Resource<T> {
  /** The result of the last load. It stays while it is loaded again. */
  readonly data: T | undefined
  /** The failure of the last load. */
  readonly error: ApiError | undefined
  readonly isLoading: boolean
  readonly reload: () => void
}

/**
 * Loads data, and loads it again when `key` changes. Requests that are no longer needed are aborted.
 * The key names everything that `load` depends on, usually the query of the address. Null loads nothing.
 */
export function useResource<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>): Resource<T> {
  const [state, setState] = useState<{ data: T | undefined; error: ApiError | undefined; isLoading: boolean }>({
    data: undefined,
    error: undefined,
    isLoading: key !== null,
  })
  const [round, setRound] = useState(0)
  const latest = useRef(load)
  latest.current = load
  useEffect(() => {
    if (key === null) return
    const controller = new AbortController()
    setState((before) => ({ ...before, isLoading: true }))
    latest.current(controller.signal).then(
      (data) => {
        if (!controller.signal.aborted) setState({ data, error: undefined, isLoading: false })
      },
      (error: unknown) => {
        if (!controller.signal.aborted)
          setState((before) => ({ ...before, error: asApiError(error), isLoading: false }))
      },
    )
    return () => controller.abort()
  }, [key, round])
  const reload = useCallback(() => setRound((before) => before + 1), [])
  return { ...state, reload }
}

/** A list that a page loads a page at a time. */
export interface PagedList<T> extends Resource<readonly T[]> {
  /** Loads the next page; undefined after the last one. */
  readonly loadMore: (() => void) | undefined
  readonly isLoadingMore: boolean
  /** Loads the first page again and combines it with the items that are shown. */
  readonly refresh: (combine: (fresh: readonly T[], shown: readonly T[]) => readonly T[]) => void
}

/** Loads the first page of a list when `key` changes, and further ones on request. */
export function usePagedList<T>(
  key: string | null,
  load: (cursor: string | null, signal: AbortSignal) => Promise<Page<T>>,
): PagedList<T> {
  const first = useResource(key, (signal) => load(null, signal))
  const [rest, setRest] = useState<{ of: Page<T> | undefined; items: readonly T[]; nextCursor: string | null }>()
  const [more, setMore] = useState<{ isLoading: boolean; error: ApiError | undefined }>({
    isLoading: false,
    error: undefined,
  })
  const current = useRef(first.data)
  current.current = first.data
  const shown =
    rest !== undefined && rest.of === first.data
      ? rest
      : { of: first.data, items: first.data?.items ?? [], nextCursor: first.data?.nextCursor ?? null }
  const cursor = shown.nextCursor
  const loadMore = () => {
    if (more.isLoading || cursor === null) return
    setMore({ isLoading: true, error: undefined })
    load(cursor, new AbortController().signal).then(
      (page) => {
        setMore({ isLoading: false, error: undefined })
        if (current.current !== shown.of) return
        setRest((before) => {
          const items = before !== undefined && before.of === shown.of ? before.items : shown.items
          return { of: shown.of, items: [...items, ...page.items], nextCursor: page.nextCursor }
        })
      },
      (error: unknown) => setMore({ isLoading: false, error: asApiError(error) }),
    )
  }
  const refresh = (combine: (fresh: readonly T[], shown: readonly T[]) => readonly T[]) => {
    const of = current.current
    if (of === undefined) return first.reload()
    load(null, new AbortController().signal).then(
      (page) => {
        if (current.current !== of) return
        setRest((before) => {
          const now = before !== undefined && before.of === of ? before : { ...of, of }
          return { of, items: combine(page.items, now.items), nextCursor: now.nextCursor }
        })
      },
      () => {
        if (current.current === of) first.reload()
      },
    )
  }
  return {
    data: first.data === undefined ? undefined : shown.items,
    error: first.error ?? more.error,
    isLoading: first.isLoading,
    reload: first.reload,
    loadMore: cursor === null ? undefined : loadMore,
    isLoadingMore: more.isLoading,
    refresh,
  }
}

function asApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(error instanceof Error ? error.message : String(error), 0)
}
