import type { JSX } from 'preact'

const line = { fill: 'none', stroke: 'currentColor', 'stroke-linecap': 'round', 'stroke-linejoin': 'round' } as const

/** The icons of the navigation. */
const icons = {
  pipelines: <path d="M1.5 4h6M4.5 8h8M9 12h5.5" {...line} stroke-width="2" />,
  insights: <path d="M1.5 12.5 5.5 8l3 2.5 5.8-7" {...line} stroke-width="1.6" />,
  traces: <path d="M2 3.5h5M5 8h6.5M8.5 12.5H14M4.5 3.5V8m5 0v4.5" {...line} stroke-width="1.5" />,
  logs: <path d="M2 3.5h12M2 8h8.5M2 12.5h10.5" {...line} stroke-width="1.5" />,
  metrics: <path d="M3 13.5v-5M8 13.5v-11M13 13.5V6" {...line} stroke-width="1.8" />,
  ingest: (
    <>
      <path d="M1 8h4m6 0h4" {...line} stroke-width="1.6" />
      <path d="M6.2 2v12M9.8 2v12" {...line} stroke-width="1.6" />
      <path d="M6.2 6.2h3.6" {...line} stroke-width="1.6" />
    </>
  ),
  apiKeys: (
    <>
      <circle cx="5" cy="8" r="3.2" {...line} stroke-width="1.5" />
      <path d="M8.2 8H14.5M12 8v3" {...line} stroke-width="1.5" />
    </>
  ),
  signOut: <path d="M6.5 2.5h-4v11h4M7 8h7m-2.6-2.8L14.2 8l-2.8 2.8" {...line} stroke-width="1.4" />,
} satisfies Record<string, JSX.Element>

export type IconName = keyof typeof icons

/** An icon of the navigation. It has no name, so a text has to stand beside it. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      {icons[name]}
    </svg>
  )
}

/** The mark of Penstock: a gate in a channel. */
export function Mark({ size }: { readonly size: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 22 22" aria-hidden="true">
      <path d="M0 14.5h7m8 0h7M0 19.5h7m8 0h7" stroke="currentColor" stroke-width="2" />
      <path d="M8 1v20M14 1v20" stroke="currentColor" stroke-width="2" />
      <path d="M9 8.5h4" stroke="currentColor" stroke-width="3" />
      <path d="M11 2v6" stroke="currentColor" stroke-width="1.6" />
    </svg>
  )
}
