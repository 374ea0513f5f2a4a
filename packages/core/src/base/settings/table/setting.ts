import type { AnyField, Field } from '../../kit/field-table.ts'

/** The facts about the instance that the defaults of settings depend on. */
export interface Instance {
  readonly serviceName: string
  readonly externalUrl: string
}

/** The facts about a setting that its field does not contain. */
export interface SettingFacts<Value> {
  /** The description for the documentation: it tells what the setting governs. */
  readonly about: string
  /** Where the service acts on the setting. Missing if the setting is only stored and returned for clients. */
  readonly takesEffectIn?: string
  /** Parameters that a request must have too if it turns this setting on. */
  readonly companions?: readonly string[]
  /** Former names, which are accepted and returned. */
  readonly oldNames?: readonly string[]
  /** Former names, which are accepted but not returned. */
  readonly oldParameters?: readonly string[]
  /** A secret is encrypted in the database. The record shows a mask instead of it, or leaves it out. */
  readonly secret?: 'masked' | 'never_shown'
  /** Returns the default, if it depends on the instance. */
  readonly defaultOf?: (instance: Instance) => Value
  /** Returns the value to store for a valid value. */
  readonly normalize?: (value: Value, context: { readonly instance: Instance; readonly before: Value }) => Value
  /** Describes the allowed values in the documentation, if the rules cannot. */
  readonly allowed?: string
}

/**
 * A row of the table of application settings. Its name in the table is its name for clients and in the database.
 *
 * The parameter of a typed setting must have the right type. Other parameters may have any type, as on GitLab; they are
 * converted, and an error is reported together with those of the rules.
 */
export interface Setting<Value = unknown> extends SettingFacts<Value>, AnyField {
  readonly value: Value
  readonly isTyped: boolean
}

/** The table column that stores the values; each setting has its own row there. */
export const VALUE = 'value'
export type ValueField<Value> = Field<Value, typeof VALUE>

export const typed = <Value>({ column, details }: ValueField<Value>, facts: SettingFacts<Value>): Setting<Value> =>
  ({ column, details, isTyped: true, ...facts }) as unknown as Setting<Value>

export const untyped = <Value>({ column, details }: ValueField<Value>, facts: SettingFacts<Value>): Setting<Value> =>
  ({ column, details, isTyped: false, ...facts }) as unknown as Setting<Value>

type MoreFacts<Value> = Omit<SettingFacts<Value>, 'about' | 'takesEffectIn'>

/** The facts of a setting on which the service acts. `takesEffectIn` completes “It takes effect in …” for the documentation. */
export const inForce = <Value>(
  about: string,
  takesEffectIn: string,
  more: MoreFacts<Value> = {},
): SettingFacts<Value> => ({
  about,
  takesEffectIn,
  ...more,
})

/** The facts of a setting that is stored and returned for clients. */
export const stored = <Value>(about: string, more: MoreFacts<Value> = {}): SettingFacts<Value> => ({
  about,
  ...more,
})
