import { useState } from 'preact/hooks'
import type { CreatedToken, IngestToken, RotatedToken } from '../../api/answers.ts'
import { session } from '../../app/session.ts'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { Notice } from '../../components/page-states.tsx'
import { Snippet } from '../../components/snippet.tsx'
import { Ago, Time } from '../../components/text.tsx'
import { Arrival } from './arrival.tsx'
import { EditTokenDialog } from './edit-token-dialog.tsx'
import { newTraceId } from './find-arrival.ts'
import { createToken, revokeToken } from './management-api.ts'
import { ProblemNotice } from './problem-notice.tsx'
import { RotateDialog } from './rotate-dialog.tsx'
import { SecretDialog } from './secret-dialog.tsx'
import { senderSettings } from './sender-settings.ts'
import { TokenFormDialog } from './token-form-dialog.tsx'
import { emptyTokenForm, tokenDraft } from './token-form-model.ts'
import { useAction } from './use-action.ts'

/** The open dialog of the token table. */
export type TokenDialog =
  | { readonly kind: 'create' }
  | { readonly kind: 'edit' | 'rotate' | 'revoke'; readonly token: IngestToken }
  | { readonly kind: 'created'; readonly created: CreatedToken | RotatedToken }

interface TokenDialogsProps {
  readonly dialog: TokenDialog
  readonly show: (dialog: TokenDialog | undefined) => void
  readonly announce: (text: string) => void
  readonly onChanged: () => void
}

/** The dialog that is open. */
export function TokenDialogs({ dialog, show, announce, onChanged }: TokenDialogsProps) {
  const close = () => show(undefined)
  // The token may have been tried while the dialog was open.
  const closeCreated = () => {
    onChanged()
    close()
  }
  const done = (text: string) => {
    announce(text)
    onChanged()
    close()
  }
  switch (dialog.kind) {
    case 'create':
      return <CreateDialog onClose={close} onCreated={showCreated} />
    case 'created':
      return <CreatedDialog created={dialog.created} onClose={closeCreated} />
    case 'edit':
      return <EditTokenDialog id={dialog.token.id} onClose={close} onChanged={onChanged} onDone={done} />
    case 'rotate':
      return <RotateDialog token={dialog.token} onClose={close} onRotated={showCreated} />
    case 'revoke':
      return <RevokeDialog token={dialog.token} onClose={close} onChanged={onChanged} onDone={done} />
  }

  function showCreated(created: CreatedToken | RotatedToken) {
    announce(`Token ${created.name} ${isRotated(created) ? 'rotated' : 'created'}.`)
    onChanged()
    show({ kind: 'created', created })
  }
}

const isRotated = (created: CreatedToken | RotatedToken): created is RotatedToken => 'superseded' in created

interface CreateDialogProps {
  readonly onClose: () => void
  readonly onCreated: (created: CreatedToken) => void
}

function CreateDialog({ onClose, onCreated }: CreateDialogProps) {
  const [form, setForm] = useState(emptyTokenForm)
  const action = useAction()
  const submit = () => {
    const draft = tokenDraft(form, Date.now())
    if ('errors' in draft) action.refuse(draft.errors)
    else action.run(async () => onCreated(await createToken(draft.body)))
  }
  return (
    <TokenFormDialog
      title="Create ingest token"
      submitWord="Create"
      form={form}
      onForm={setForm}
      action={action}
      onClose={onClose}
      onSubmit={submit}
    />
  )
}

const warningTexts: Readonly<Record<string, string>> = {
  name_in_use: 'Another token has the same name.',
}

interface CreatedDialogProps {
  readonly created: CreatedToken | RotatedToken
  readonly onClose: () => void
}

function CreatedDialog({ created, onClose }: CreatedDialogProps) {
  const warnings = created.warnings.flatMap((code) => warningTexts[code] ?? [])
  return (
    <SecretDialog
      title={`Token ${created.name} ${isRotated(created) ? 'rotated' : 'created'}`}
      label="Ingest token"
      value={created.token}
      remedy="If you lose it, rotate the token to get a new value."
      onClose={onClose}
    >
      {isRotated(created) && (
        <p class="soft">
          The old value is accepted until <Time at={created.superseded.expires_at} />.
        </p>
      )}
      {warnings.map((text) => (
        <Notice key={text} meaning="warning">
          {text}
        </Notice>
      ))}
      <SenderSettingsList created={created} />
    </SecretDialog>
  )
}

/** Where to send telemetry with a new token, and settings of senders to copy. */
function SenderSettingsList({ created }: { readonly created: CreatedToken }) {
  const url = session.value?.ingest.otlp_url
  const [traceId] = useState(newTraceId)
  if (url === undefined) return null
  const { environment, collector, command } = senderSettings(url, created, traceId)
  return (
    <section class="sender" aria-label="Use it">
      <p>
        Send OTLP over HTTP or gRPC to <code>{url}</code>.
      </p>
      {command === undefined ? null : (
        <>
          <Snippet label="Try it with curl, in bash or zsh" text={command} />
          <Arrival tokenId={created.id} traceId={created.signals.includes('traces') ? traceId : null} />
        </>
      )}
      <Snippet label="Environment of an OpenTelemetry SDK" text={environment} />
      <Snippet label="Exporter of a collector" text={collector} />
    </section>
  )
}

interface RevokeDialogProps {
  readonly token: IngestToken
  readonly onClose: () => void
  readonly onChanged: () => void
  readonly onDone: (text: string) => void
}

function RevokeDialog({ token, onClose, onChanged, onDone }: RevokeDialogProps) {
  const action = useAction()
  const revoke = async () => {
    try {
      await revokeToken(token.id)
    } catch (error) {
      onChanged()
      throw error
    }
    onDone(`Token ${token.name} revoked.`)
  }
  return (
    <ConfirmDialog title={`Revoke ${token.name}?`} onCancel={onClose} onConfirm={() => action.run(revoke)}>
      <p class="soft">
        Senders with this token are treated as senders without one, from the next request. This cannot be undone.
        {token.last_used_at === null ? (
          ' It has never been used.'
        ) : (
          <>
            {' '}
            It was last used <Ago at={token.last_used_at} />.
          </>
        )}
      </p>
      <ProblemNotice problem={action.problem} />
    </ConfirmDialog>
  )
}
