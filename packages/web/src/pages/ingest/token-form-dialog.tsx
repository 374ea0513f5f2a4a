import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { signals } from '../../api/tokens.ts'
import { Dialog } from '../../components/dialog.tsx'
import { ExpiryFields } from './expiry-fields.tsx'
import { FieldError, FormField } from './form-field.tsx'
import { LimitFields } from './limit-fields.tsx'
import { ProblemNotice } from './problem-notice.tsx'
import type { TokenForm } from './token-form-model.ts'
import type { Action } from './use-action.ts'

interface TokenFormDialogProps {
  readonly title: string
  readonly submitWord: string
  readonly form: TokenForm
  readonly onForm: (form: TokenForm) => void
  readonly action: Action
  readonly onClose: () => void
  readonly onSubmit: () => void
  /** A button at the beginning of the footer. */
  readonly other?: ComponentChildren
}

/** The form of a token. A name is enough; what restricts a token opens on request, and when something in it is wrong. */
export function TokenFormDialog(props: TokenFormDialogProps) {
  const { title, submitWord, form, onForm, action, onClose, onSubmit } = props
  const { fieldErrors: errors } = action
  const isRestrictionWrong = Object.keys(errors).some((field) => field !== 'name' && field !== 'expires_at')
  const set = (changes: Partial<TokenForm>) => onForm({ ...form, ...changes })
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={onSubmit}
      footer={
        <>
          {props.other}
          <button class="btn" type="button" onClick={onClose}>
            Cancel
          </button>
          <button class="btn primary" type="submit" aria-disabled={action.isBusy}>
            {submitWord}
          </button>
        </>
      }
    >
      <FormField label="Name" hint="Name it after the sender that will use it." error={errors.name}>
        {(control) => (
          <input
            {...control}
            value={form.name}
            maxLength={200}
            autocomplete="off"
            onInput={(event) => set({ name: event.currentTarget.value })}
          />
        )}
      </FormField>
      <ExpiryFields
        choice={form.expiry}
        date={form.expiryDate}
        error={errors.expires_at}
        onChoice={(expiry) => set({ expiry })}
        onDate={(expiryDate) => set({ expiryDate })}
      />
      <details class="more-fields" open={isRestrictionWrong || undefined}>
        <summary>Limits and restrictions</summary>
        <Restrictions form={form} set={set} errors={errors} />
      </details>
      <ProblemNotice problem={Object.keys(errors).length === 0 ? action.problem : undefined} />
    </Dialog>
  )
}

interface RestrictionsProps {
  readonly form: TokenForm
  readonly set: (changes: Partial<TokenForm>) => void
  readonly errors: Action['fieldErrors']
}

function Restrictions({ form, set, errors }: RestrictionsProps) {
  const errorId = useId()
  return (
    <div class="fields">
      <fieldset class="field" aria-describedby={errors.signals === undefined ? undefined : errorId}>
        <legend class="label">Signals</legend>
        <div class="checks">
          {signals.map((signal) => (
            <label class="check" key={signal}>
              <input
                type="checkbox"
                checked={form.signals.includes(signal)}
                onChange={(event) =>
                  set({
                    signals: event.currentTarget.checked
                      ? [...form.signals, signal]
                      : form.signals.filter((other) => other !== signal),
                  })
                }
              />
              {signal}
            </label>
          ))}
        </div>
        <FieldError id={errorId} error={errors.signals} />
      </fieldset>
      <LimitFields limits={form.limits} errors={errors} onLimits={(limits) => set({ limits })} />
      <FormField label="Description" error={errors.description}>
        {(control) => (
          <input
            {...control}
            value={form.description}
            autocomplete="off"
            onInput={(event) => set({ description: event.currentTarget.value })}
          />
        )}
      </FormField>
      <FormField label="Tenant" hint="Routes telemetry to the upstream of this tenant." error={errors.tenant}>
        {(control) => (
          <input
            {...control}
            value={form.tenant}
            autocomplete="off"
            onInput={(event) => set({ tenant: event.currentTarget.value })}
          />
        )}
      </FormField>
      <FormField label="Tags" hint="One key=value per line." error={errors.tags}>
        {(control) => (
          <textarea
            {...control}
            rows={2}
            value={form.tags}
            onInput={(event) => set({ tags: event.currentTarget.value })}
          />
        )}
      </FormField>
      <FormField
        label="Origins"
        hint="Browsers only from these, one per line, such as https://*.example.com."
        error={errors.allowed_origins}
      >
        {(control) => (
          <textarea
            {...control}
            rows={2}
            value={form.origins}
            onInput={(event) => set({ origins: event.currentTarget.value })}
          />
        )}
      </FormField>
      <FormField
        label="Client certificates"
        hint="Only with one of these subjects, one per line, such as DNS:collector.example.com."
        error={errors.client_certificate_sans}
      >
        {(control) => (
          <textarea
            {...control}
            rows={2}
            value={form.certificateNames}
            onInput={(event) => set({ certificateNames: event.currentTarget.value })}
          />
        )}
      </FormField>
      <label class="check">
        <input
          type="checkbox"
          checked={form.allowQuery}
          onChange={(event) => set({ allowQuery: event.currentTarget.checked })}
        />
        Also accept it as <code>access_token</code> in the URL
      </label>
    </div>
  )
}
