import type { ComponentChildren, JSX } from 'preact'
import { type Meaning, statusWord } from './status-words.ts'

const outline = { fill: 'none', stroke: 'currentColor' } as const
const cross = (
  <path d="m5.6 5.6 4.8 4.8m0-4.8-4.8 4.8" stroke="var(--surface)" stroke-width="1.6" stroke-linecap="round" />
)

/** The shape of each meaning, so that no status is known by its colour alone. */
const shapes: Readonly<Record<Meaning, JSX.Element>> = {
  passed: (
    <>
      <circle cx="8" cy="8" r="6.25" {...outline} stroke-width="1.5" />
      <path d="m5.2 8.2 2 2 3.7-4.2" {...outline} stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" />
    </>
  ),
  failed: (
    <>
      <path d="M5.1 1h5.8L15 5.1v5.8L10.9 15H5.1L1 10.9V5.1z" fill="currentColor" />
      {cross}
    </>
  ),
  running: (
    <>
      <circle cx="8" cy="8" r="6.25" {...outline} stroke-width="1.5" />
      <circle cx="8" cy="8" r="2.6" fill="currentColor" />
    </>
  ),
  warning: (
    <>
      <path d="M8 1.6 15 14H1z" {...outline} stroke-width="1.5" stroke-linejoin="round" />
      <path d="M8 6v3.6" {...outline} stroke-width="1.6" stroke-linecap="round" />
      <circle cx="8" cy="11.8" r=".95" fill="currentColor" />
    </>
  ),
  queued: (
    <>
      <circle cx="8" cy="8" r="6.25" {...outline} stroke-width="1.5" stroke-dasharray="2.6 1.9" />
      <path d="M8 4.6V8l2.2 1.6" {...outline} stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" />
    </>
  ),
  canceled: (
    <>
      <circle cx="8" cy="8" r="6.25" {...outline} stroke-width="1.5" />
      <path d="m3.8 12.2 8.4-8.4" {...outline} stroke-width="1.5" />
    </>
  ),
  skipped: (
    <>
      <circle cx="8" cy="8" r="6.25" {...outline} stroke-width="1.2" />
      <path
        d="m5 5.6 2.4 2.4L5 10.4M8.6 5.6 11 8l-2.4 2.4"
        {...outline}
        stroke-width="1.3"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </>
  ),
  manual: (
    <>
      <circle cx="8" cy="8" r="6.25" {...outline} stroke-width="1.5" />
      <path d="M6.4 5.2 11 8l-4.6 2.8z" fill="currentColor" />
    </>
  ),
}

/** The icon of a meaning. It has no name, so a text has to stand beside it. */
export function StatusIcon({ meaning }: { readonly meaning: Meaning }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      {shapes[meaning]}
    </svg>
  )
}

interface StatusProps {
  /** The service's word, for example `success`. */
  readonly status?: string | null | undefined
  /** Overrides the meaning, for example `warning` for a failure that is allowed. */
  readonly meaning?: Meaning | undefined
  /** Overrides the label. */
  readonly children?: ComponentChildren
  /** Shows the status on a ground of its colour. */
  readonly isChip?: boolean
}

/** A status: its icon and its word. */
export function Status({ status, meaning, children, isChip = false }: StatusProps) {
  const word = statusWord(status)
  const shown = meaning ?? word.meaning
  return (
    <span class={`${isChip ? 'chip' : 'status'} is-${shown}`}>
      <StatusIcon meaning={shown} />
      <span>{children ?? word.label}</span>
    </span>
  )
}

/** A count of failures: a quiet zero, or the icon and the number. */
export function FailedCount({ count, meaning = 'failed' }: { readonly count: number; readonly meaning?: Meaning }) {
  if (count === 0) return <span class="zero">0</span>
  return (
    <span class={`status is-${meaning}`}>
      <StatusIcon meaning={meaning} />
      <b>{count}</b>
    </span>
  )
}
