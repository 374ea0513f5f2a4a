import { useEffect, useState } from 'preact/hooks'
import type { IngestToken } from '../../api/answers.ts'
import { ApiError, type Tagged } from '../../api/client.ts'
import { Dialog } from '../../components/dialog.tsx'
import { Failure } from '../../components/page-states.tsx'
import { useResource } from '../../components/resource.ts'
import { getToken, updateToken } from './management-api.ts'
import { TokenFormDialog } from './token-form-dialog.tsx'
import { tokenForm, tokenUpdate } from './token-form-model.ts'
import { useAction } from './use-action.ts'

interface EditTokenDialogProps {
  readonly id: string
  readonly onClose: () => void
  readonly onChanged: () => void
  readonly onDone: (text: string) => void
}

/** Changes a token, from the version that the service has now. */
export function EditTokenDialog({ id, onClose, onChanged, onDone }: EditTokenDialogProps) {
  const token = useResource(id, () => getToken(id))
  if (token.data !== undefined) {
    return <EditForm token={token.data} reload={token.reload} onClose={onClose} onChanged={onChanged} onDone={onDone} />
  }
  if (token.error === undefined) return null
  return (
    <Dialog title="Edit token" onClose={onClose}>
      <Failure title="The token could not be loaded." error={token.error} onRetry={token.reload} />
    </Dialog>
  )
}

interface EditFormProps extends Omit<EditTokenDialogProps, 'id'> {
  readonly token: Tagged<IngestToken>
  readonly reload: () => void
}

function EditForm({ token: { data, etag }, reload, onClose, onChanged, onDone }: EditFormProps) {
  const [form, setForm] = useState(() => tokenForm(data))
  const action = useAction()
  // A newer version replaces what was typed: it may contradict it.
  useEffect(() => setForm(tokenForm(data)), [data])
  const send = async (body: object, done: string) => {
    try {
      await updateToken(data.id, body, etag)
    } catch (error) {
      if (error instanceof ApiError && error.code === 'precondition_failed') {
        reload()
        onChanged()
      }
      throw error
    }
    onDone(done)
  }
  const submit = () => {
    const draft = tokenUpdate(form, Date.now())
    if ('errors' in draft) action.refuse(draft.errors)
    else action.run(() => send(draft.body, `Token ${form.name.trim()} changed.`))
  }
  const isDisabled = data.status === 'disabled'
  const toggle = () =>
    action.run(() => send({ disabled: !isDisabled }, `Token ${data.name} ${isDisabled ? 'enabled' : 'disabled'}.`))
  return (
    <TokenFormDialog
      title={`Edit ${data.name}`}
      submitWord="Save"
      form={form}
      onForm={setForm}
      action={action}
      onClose={onClose}
      onSubmit={submit}
      other={
        <button class="btn quiet" type="button" aria-disabled={action.isBusy} onClick={toggle}>
          {isDisabled ? 'Enable' : 'Disable'}
        </button>
      }
    />
  )
}
