import { useState } from 'preact/hooks'
import type { ApiKey, CreatedApiKey, Role } from '../../api/answers.ts'
import { ConfirmDialog, Dialog } from '../../components/dialog.tsx'
import { Ago } from '../../components/text.tsx'
import { ExpiryFields } from '../ingest/expiry-fields.tsx'
import { FormField } from '../ingest/form-field.tsx'
import { createApiKey, revokeApiKey } from '../ingest/management-api.ts'
import { ProblemNotice } from '../ingest/problem-notice.tsx'
import { SecretDialog } from '../ingest/secret-dialog.tsx'
import { useAction } from '../ingest/use-action.ts'
import { emptyKeyForm, keyDraft, roles } from './key-form-model.ts'

export type KeyDialog =
  | { readonly kind: 'create' }
  | { readonly kind: 'created'; readonly created: CreatedApiKey }
  | { readonly kind: 'revoke'; readonly key: ApiKey }

interface KeyDialogsProps {
  readonly dialog: KeyDialog
  readonly show: (dialog: KeyDialog | undefined) => void
  readonly announce: (text: string) => void
  readonly onChanged: () => void
}

/** The dialog that is open. */
export function KeyDialogs({ dialog, show, announce, onChanged }: KeyDialogsProps) {
  const close = () => show(undefined)
  switch (dialog.kind) {
    case 'create':
      return (
        <CreateDialog
          onClose={close}
          onCreated={(created) => {
            announce(`API key ${created.name} created.`)
            onChanged()
            show({ kind: 'created', created })
          }}
        />
      )
    case 'created':
      return (
        <SecretDialog
          title={`Key ${dialog.created.name} created`}
          label="New API key"
          value={dialog.created.key}
          remedy="If you lose it, revoke the key and create another one."
          onClose={close}
        />
      )
    case 'revoke':
      return (
        <RevokeDialog
          apiKey={dialog.key}
          onClose={close}
          onChanged={onChanged}
          onRevoked={() => {
            announce(`API key ${dialog.key.name} revoked.`)
            onChanged()
            close()
          }}
        />
      )
  }
}

interface CreateDialogProps {
  readonly onClose: () => void
  readonly onCreated: (created: CreatedApiKey) => void
}

function CreateDialog({ onClose, onCreated }: CreateDialogProps) {
  const [form, setForm] = useState(emptyKeyForm)
  const action = useAction()
  const submit = () => {
    const draft = keyDraft(form, Date.now())
    if ('errors' in draft) action.refuse(draft.errors)
    else action.run(async () => onCreated(await createApiKey(draft.body)))
  }
  return (
    <Dialog
      title="Create a key for the console and its API"
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          <button class="btn" type="button" onClick={onClose}>
            Cancel
          </button>
          <button class="btn primary" type="submit" aria-disabled={action.isBusy}>
            Create
          </button>
        </>
      }
    >
      <FormField
        label="Name"
        hint="Name it after the person or program that will use it."
        error={action.fieldErrors.name}
      >
        {(control) => (
          <input
            {...control}
            value={form.name}
            maxLength={200}
            autocomplete="off"
            onInput={(event) => setForm({ ...form, name: event.currentTarget.value })}
          />
        )}
      </FormField>
      <FormField label="Role" hint={roles.find(({ role }) => role === form.role)?.effect}>
        {(control) => (
          <select
            {...control}
            value={form.role}
            onChange={(event) => setForm({ ...form, role: event.currentTarget.value as Role })}
          >
            {roles.map(({ role }) => (
              <option key={role} value={role}>
                {role}
              </option>
            ))}
          </select>
        )}
      </FormField>
      <ExpiryFields
        choice={form.expiry}
        date={form.expiryDate}
        error={action.fieldErrors.expires_at}
        onChoice={(expiry) => setForm({ ...form, expiry })}
        onDate={(expiryDate) => setForm({ ...form, expiryDate })}
      />
      <ProblemNotice problem={Object.keys(action.fieldErrors).length === 0 ? action.problem : undefined} />
    </Dialog>
  )
}

interface RevokeDialogProps {
  readonly apiKey: ApiKey
  readonly onClose: () => void
  readonly onChanged: () => void
  readonly onRevoked: () => void
}

function RevokeDialog({ apiKey, onClose, onChanged, onRevoked }: RevokeDialogProps) {
  const action = useAction()
  const revoke = async () => {
    try {
      await revokeApiKey(apiKey.id)
    } catch (error) {
      onChanged()
      throw error
    }
    onRevoked()
  }
  return (
    <ConfirmDialog title={`Revoke ${apiKey.name}?`} onCancel={onClose} onConfirm={() => action.run(revoke)}>
      <p class="soft">
        The key stops working at once, and ends the sessions that began with it. This cannot be undone. Last used:{' '}
        <Ago at={apiKey.last_used_at} />.
      </p>
      <ProblemNotice problem={action.problem} />
    </ConfirmDialog>
  )
}
