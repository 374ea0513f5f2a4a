import { FieldError } from './form-field.tsx'
import type { FieldErrors } from './token-form-model.ts'
import { limitColumns, limitedSignals, limitField } from './token-form-model.ts'

interface LimitFieldsProps {
  readonly limits: Readonly<Record<string, string>>
  readonly errors: FieldErrors
  readonly onLimits: (limits: Readonly<Record<string, string>>) => void
}

/** The limits of a token: a row per signal, and one for all signals together. An empty field is no limit. */
export function LimitFields({ limits, errors, onLimits }: LimitFieldsProps) {
  const wrong = limitedSignals.flatMap((signal) =>
    limitColumns.flatMap((column) => errors[limitField(signal, column)] ?? []),
  )
  return (
    <div class="field">
      <div class="scroll">
        <table class="limits" aria-label="Limits">
          <thead>
            <tr>
              <th scope="col">Limits</th>
              {limitColumns.map(({ name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {limitedSignals.map((signal) => (
              <tr key={signal}>
                <th scope="row">{signal}</th>
                {limitColumns.map((column) => {
                  const field = limitField(signal, column)
                  return (
                    <td key={field} data-limit={column.name}>
                      <input
                        aria-label={`${column.name}, ${signal}`}
                        aria-invalid={errors[field] === undefined ? undefined : true}
                        value={limits[field] ?? ''}
                        inputMode="text"
                        autocomplete="off"
                        onInput={(event) => onLimits({ ...limits, [field]: event.currentTarget.value })}
                      />
                    </td>
                  )
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <span class="hint">Whole numbers; 20k and 10M are fine. Empty: no limit.</span>
      <FieldError error={wrong[0]} />
    </div>
  )
}
