import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
  /** Buttons. */
  readonly footer?: ComponentChildren
  /** Makes the dialog a form, which Enter submits. */
  readonly onSubmit?: () => void
  /** `alertdialog` for a confirmation. */
  readonly role?: 'dialog' | 'alertdialog'
}

/**
 * A modal dialog. Render it only while it is open: it takes the focus when it appears and returns it to the element that had
 * it. Escape closes it.
 */
export function Dialog({ title, onClose, children, footer, onSubmit, role = 'dialog' }: DialogProps) {
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const opener = document.activeElement
    dialog.current?.showModal()
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
    }
  }, [])
  const body = (
    <>
      <div class="dialog-body">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
      {footer === undefined ? null : <div class="dialog-foot">{footer}</div>}
    </>
  )
  return (
    <dialog
      ref={dialog}
      role={role === 'dialog' ? undefined : role}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
    >
      {onSubmit === undefined ? (
        body
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            onSubmit()
          }}
        >
          {body}
        </form>
      )}
    </dialog>
  )
}

interface ConfirmDialogProps {
  readonly title: string
  readonly children: ComponentChildren
  readonly onConfirm: () => void
  readonly onCancel: () => void
  readonly isBusy?: boolean
}

/** Asks before something that cannot be undone, with the buttons `Confirm` and `Cancel`. */
export function ConfirmDialog({ title, children, onConfirm, onCancel, isBusy = false }: ConfirmDialogProps) {
  return (
    <Dialog
      title={title}
      role="alertdialog"
      onClose={onCancel}
      footer={
        <>
          <button class="btn" type="button" onClick={onCancel}>
            Cancel
          </button>
          <button class="btn primary" type="button" disabled={isBusy} onClick={onConfirm}>
            Confirm
          </button>
        </>
      }
    >
      {children}
    </Dialog>
  )
}
