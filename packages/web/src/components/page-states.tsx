import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { ApiError } from '../api/client.ts'
import { clearedAddress } from './cleared-address.ts'
import { StatusIcon } from './status.tsx'

const SKELETON_MS = 150

/** Returns whether something has been loading for 150 ms, so that short waits show nothing. */
export function useDelayed(isLoading: boolean, delayMs = SKELETON_MS): boolean {
  const [isLong, setLong] = useState(false)
  useEffect(() => {
    if (!isLoading) return setLong(false)
    const timer = setTimeout(() => setLong(true), delayMs)
    return () => clearTimeout(timer)
  }, [isLoading, delayMs])
  return isLoading && isLong
}

const SHOWN_APART_MS = 500

interface ShownTogetherProps {
  readonly resources: readonly { readonly data: unknown; readonly error: unknown }[]
  readonly children: ComponentChildren
}

/**
 * Panels with heights that depend on their data. They appear when all of it is there, so that none moves the ones below it; after half a
 * second, each appears by itself.
 */
export function ShownTogether({ resources, children }: ShownTogetherProps) {
  const isLoading = resources.some(({ data, error }) => data === undefined && error === undefined)
  const isLong = useDelayed(isLoading, SHOWN_APART_MS)
  return <div class={isLoading && !isLong ? 'together unready' : 'together'}>{children}</div>
}

interface BlankProps {
  readonly title: string
  /** The next step for the user. */
  readonly children: ComponentChildren
  /** A button or a link. */
  readonly action?: ComponentChildren
}

/** A panel without data: what is missing, and what to do next. */
export function Blank({ title, children, action }: BlankProps) {
  return (
    <div class="blank">
      <h3>{title}</h3>
      <div class="soft">{children}</div>
      {action}
    </div>
  )
}

/** A list that filters have left empty, with a link that clears them. `keep` names parts of the query that are not filters. */
export function NothingFound({
  title,
  children,
  keep = ['range', 'since', 'until'],
}: {
  readonly title: string
  readonly children: ComponentChildren
  readonly keep?: readonly string[]
}) {
  return (
    <Blank
      title={title}
      action={
        <a class="btn" href={clearedAddress(keep)}>
          Clear filters
        </a>
      }
    >
      {children}
    </Blank>
  )
}

interface FailureProps {
  /** The failure as a sentence: `The runs could not be loaded.` */
  readonly title: string
  readonly error: ApiError
  readonly onRetry: () => void
}

/** A failed request: what failed, why, the request id, and a button that tries again. */
export function Failure({ title, error, onRetry }: FailureProps) {
  return (
    <div class="blank">
      <div class="notice is-failed" role="alert">
        <StatusIcon meaning="failed" />
        <div>
          <b>{title}</b> {error.message}
          {error.requestId === '' ? null : (
            <>
              {' '}
              Request <code>{error.requestId}</code>.
            </>
          )}
        </div>
      </div>
      <button class="btn" type="button" onClick={onRetry}>
        Try again
      </button>
    </div>
  )
}

/** A message of a form or a panel. Use `alert` if it appears after an action. */
export function Notice({
  meaning,
  children,
  role,
}: {
  readonly meaning: 'failed' | 'warning' | 'passed'
  readonly children: ComponentChildren
  readonly role?: 'alert' | 'status'
}) {
  return (
    <div class={`notice is-${meaning}`} role={role}>
      <StatusIcon meaning={meaning} />
      <div>{children}</div>
    </div>
  )
}

/** Replaces Observe pages if the gateway forwards to an upstream that it cannot read. */
export function NoStore() {
  return (
    <div class="panel">
      <Blank
        title="Telemetry goes to your upstream"
        action={
          <a class="btn" href="/ingest">
            Go to Ingest
          </a>
        }
      >
        <p>
          This gateway forwards to an upstream that it cannot read, so there is nothing to show here. If a collector
          writes this telemetry to ClickHouse, set <code>PENSTOCK_OBSERVE_URL</code> to its database. Or start the
          service without <code>PENSTOCK_UPSTREAM</code>: it then keeps telemetry in its embedded store. Ingest and API
          keys work as usual.
        </p>
      </Blank>
    </div>
  )
}
