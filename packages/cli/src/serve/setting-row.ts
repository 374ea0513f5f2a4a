import type { Shape } from './setting-shapes.ts'

export interface SettingRow<Value = unknown> {
  readonly variable: string
  readonly shape: Shape<Value>
  /** As it would be typed; `undefined`: unset, and `about` says what that means. */
  readonly fallback: string | undefined
  readonly about: string
  /** Its value never appears in messages or generated pages. */
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
