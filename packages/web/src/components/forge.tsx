import { forgeLook } from './forge-names.ts'

/** The mark and the name of a forge. Where space is short, styles hide the name from view only. */
export function Forge({ forge }: { readonly forge: string }) {
  const { label, mark } = forgeLook(forge)
  return (
    <span class="forge" title={label}>
      <svg class="mark" viewBox="0 0 20 16" aria-hidden="true">
        <rect x=".75" y=".75" width="18.5" height="14.5" rx="3.5" />
        <text x="10" y="11.4">
          {mark}
        </text>
      </svg>
      <bdi class="cut">{label}</bdi>
    </span>
  )
}
