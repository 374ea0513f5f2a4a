import type { ComponentChildren } from 'preact'

interface SwitchProps {
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
  /** The accessible name. */
  readonly children: ComponentChildren
  readonly isDisabled?: boolean
  readonly describedBy?: string
}

/** A switch that acts at once. */
export function Switch({ isOn, onChange, children, isDisabled = false, describedBy }: SwitchProps) {
  return (
    <button
      class="switch"
      type="button"
      role="switch"
      aria-checked={isOn}
      aria-describedby={describedBy}
      disabled={isDisabled}
      onClick={() => onChange(!isOn)}
    >
      <i />
      {children}
    </button>
  )
}
