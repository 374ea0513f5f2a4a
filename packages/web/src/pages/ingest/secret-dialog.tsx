import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { CopyButton } from '../../components/copy-button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Notice } from '../../components/page-states.tsx'

interface SecretDialogProps {
  readonly title: string
  /** The label of the value. */
  readonly label: string
  readonly value: string
  /** The advice for a lost value. */
  readonly remedy: string
  readonly onClose: () => void
  readonly children?: ComponentChildren
}

/** Shows a secret once. The value is in this dialog only, and gone when it closes. */
export function SecretDialog({ title, label, value, remedy, onClose, children }: SecretDialogProps) {
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    field.current?.focus()
    field.current?.select()
  }, [])
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <button class="btn" type="button" onClick={onClose}>
          Done
        </button>
      }
    >
      <div class="field">
        <label for={id}>{label}</label>
        <div class="secret">
          <input ref={field} id={id} readOnly value={value} autocomplete="off" spellcheck={false} />
          <CopyButton text={value} class="btn primary" />
        </div>
      </div>
      <Notice meaning="warning">
        <b>This is the only time it is shown.</b> {remedy}
      </Notice>
      {children}
    </Dialog>
  )
}
