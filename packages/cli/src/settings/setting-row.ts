import type { SettingName } from '@penstock/core'
import type { Shape } from './setting-shapes.ts'

export interface SettingRow<Value = unknown> {
  readonly variable: string
  readonly shape: Shape<Value>
  /** The default, as a user would type it. `undefined` if there is none; `about` then says what happens. */
  readonly fallback: string | undefined
  readonly about: string
  /** Whether the value is kept out of messages and generated pages. */
  readonly secret?: boolean
  /** The application setting that this setting fixes if it is given. */
  readonly pins?: SettingName
}

export function row<Value, Fallback extends string | undefined>(
  variable: string,
  shape: Shape<Value>,
  fallback: Fallback,
  about: string,
  extra: Pick<SettingRow, 'secret' | 'pins'> = {},
): SettingRow<Value> & { readonly fallback: Fallback } {
  return { variable, shape, fallback, about, ...extra }
}
