import { useState } from 'preact/hooks'
import type { IngestToken, RotatedToken } from '../../api/answers.ts'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { ExpiryFields } from './expiry-fields.tsx'
import { FormField } from './form-field.tsx'
import { rotateToken } from './management-api.ts'
import { ProblemNotice } from './problem-notice.tsx'
import { type ExpiryChoice, expiryInstant } from './token-form-model.ts'
import { useAction } from './use-action.ts'

const overlaps: readonly { readonly seconds: number; readonly name: string }[] = [
  { seconds: 0, name: 'Not at all' },
  { seconds: 3_600, name: '1 hour' },
  { seconds: 86_400, name: '1 day' },
  { seconds: 7 * 86_400, name: '7 days' },
  { seconds: 30 * 86_400, name: '30 days' },
]

interface RotateDialogProps {
  readonly token: IngestToken
  readonly onClose: () => void
  readonly onRotated: (created: RotatedToken) => void
}

/** Asks how long the old value stays valid beside the new one. */
export function RotateDialog({ token, onClose, onRotated }: RotateDialogProps) {
  const [overlapSeconds, setOverlapSeconds] = useState(86_400)
  const [expiry, setExpiry] = useState<ExpiryChoice | 'same'>('same')
  const [expiryDate, setExpiryDate] = useState('')
  const action = useAction()
  const submit = () => {
    const expiresAt = expiry === 'same' ? null : expiryInstant({ expiry, expiryDate }, Date.now())
    if (expiresAt === undefined) return action.refuse({ expires_at: 'Choose a time in the future.' })
    const body = { overlap_seconds: overlapSeconds, ...(expiry !== 'same' && { expires_at: expiresAt }) }
    action.run(async () => onRotated(await rotateToken(token.id, body)))
  }
  return (
    <ConfirmDialog title={`Rotate ${token.name}?`} onCancel={onClose} onConfirm={submit}>
      <p class="soft">You get a new value with the same rights. Put it into the sender before the old one ends.</p>
      <FormField label="Accept the old value for">
        {(control) => (
          <select
            {...control}
            value={String(overlapSeconds)}
            onChange={(event) => setOverlapSeconds(Number(event.currentTarget.value))}
          >
            {overlaps.map(({ seconds, name }) => (
              <option key={seconds} value={String(seconds)}>
                {name}
              </option>
            ))}
          </select>
        )}
      </FormField>
      <ExpiryFields
        choice={expiry}
        date={expiryDate}
        error={action.fieldErrors.expires_at}
        sameName={token.expires_at === null ? 'Never, as before' : 'After the same time as before'}
        onChoice={setExpiry}
        onDate={setExpiryDate}
      />
      <ProblemNotice problem={action.problem} />
    </ConfirmDialog>
  )
}
