import type { Role } from '../../api/answers.ts'
import { type ExpiryChoice, expiryInstant, type FieldErrors } from '../ingest/token-form-model.ts'

export const roles: readonly { readonly role: Role; readonly effect: string }[] = [
  { role: 'Viewer', effect: 'Sees everything but API keys and the audit log; changes nothing.' },
  { role: 'Editor', effect: 'Also changes ingest tokens and enforcement.' },
  { role: 'Admin', effect: 'Also manages API keys and reads the audit log.' },
]

export interface KeyForm {
  readonly name: string
  readonly role: Role
  readonly expiry: ExpiryChoice
  readonly expiryDate: string
}

/** A new key can read. A user who needs more chooses it. */
export const emptyKeyForm: KeyForm = { name: '', role: 'Viewer', expiry: 'never', expiryDate: '' }

export interface KeyBody {
  readonly name: string
  readonly role: Role
  readonly expires_at: string | null
}

/** Returns the body that creates the key, or what to correct. */
export function keyDraft(form: KeyForm, nowMs: number): { readonly body: KeyBody } | { readonly errors: FieldErrors } {
  const expiresAt = expiryInstant(form, nowMs)
  const name = form.name.trim()
  if (name !== '' && expiresAt !== undefined) return { body: { name, role: form.role, expires_at: expiresAt } }
  return {
    errors: {
      ...(name === '' && { name: 'Give the key a name.' }),
      ...(expiresAt === undefined && { expires_at: 'Choose a time in the future.' }),
    },
  }
}
