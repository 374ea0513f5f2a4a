import { FormField } from './form-field.tsx'
import { type ExpiryChoice, expiryChoices } from './token-form-model.ts'

interface ExpiryFieldsProps<Choice extends string> {
  readonly choice: Choice
  readonly date: string
  readonly error: string | undefined
  /** The name of the choice `same`, if there is one. */
  readonly sameName?: string
  readonly onChoice: (choice: Choice) => void
  readonly onDate: (date: string) => void
}

/** When a token or key ends: never, after a time, or at a time that the user enters. */
export function ExpiryFields<Choice extends ExpiryChoice | 'same'>(props: ExpiryFieldsProps<Choice>) {
  const { choice, date, error, sameName, onChoice, onDate } = props
  return (
    <>
      <FormField label="Expires" error={choice === 'date' ? undefined : error}>
        {(control) => (
          <select {...control} value={choice} onChange={(event) => onChoice(event.currentTarget.value as Choice)}>
            {sameName === undefined ? null : <option value="same">{sameName}</option>}
            {expiryChoices.map((row) => (
              <option key={row.choice} value={row.choice}>
                {row.name}
              </option>
            ))}
          </select>
        )}
      </FormField>
      {choice === 'date' ? (
        <FormField label="Date and time" hint="In your time zone." error={error}>
          {(control) => (
            <input
              {...control}
              type="datetime-local"
              step="1"
              value={date}
              onInput={(event) => onDate(event.currentTarget.value)}
            />
          )}
        </FormField>
      ) : null}
    </>
  )
}
