import type { Shape } from './setting-shapes.ts'

export interface SettingRow<Value = unknown> {
  readonly variable: string
  readonly shape: Shape<Value>
  /** The default in the form in which it is typed; `undefined`: unset, and `about` says what that means. */
  readonly fallback: string | undefined
  readonly about: string
  /** Whether the value is kept out of messages and generated pages. */
  readonly secret?: boolean
}

export function row<Value, Fallback extends string | undefined>(
  variable: string,
  shape: Shape<Value>,
  fallback: Fallback,
  about: string,
  extra: { secret?: boolean } = {},
): SettingRow<Value> & { readonly fallback: Fallback } {
  return { variable, shape, fallback, about, ...extra }
}
