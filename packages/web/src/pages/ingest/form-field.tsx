import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

interface FormFieldProps {
  readonly label: string
  readonly hint?: ComponentChildren
  readonly error?: string | undefined
  /** Renders the control with its id and the ids of what describes it. */
  readonly children: (control: ControlProps) => ComponentChildren
}

export interface ControlProps {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': boolean | undefined
}

/** A control with its label, a hint, and what is wrong with its value. */
export function FormField({ label, hint, error, children }: FormFieldProps) {
  const id = useId()
  const described = [hint === undefined ? '' : `${id}-hint`, error === undefined ? '' : `${id}-error`].filter(Boolean)
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        'aria-describedby': described.length === 0 ? undefined : described.join(' '),
        'aria-invalid': error === undefined ? undefined : true,
      })}
      {hint === undefined ? null : (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      <FieldError id={`${id}-error`} error={error} />
    </div>
  )
}

/** The error of a value. It is announced when it appears. */
export function FieldError({ id, error }: { readonly id?: string; readonly error: string | undefined }) {
  return error === undefined ? null : (
    <span class="field-error" id={id} role="alert">
      {error}
    </span>
  )
}
