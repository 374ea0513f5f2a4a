import type { AnyField } from '../../kit/field-table.ts'

/** The facts about the instance that the defaults of settings depend on. */
export interface Instance {
  readonly serviceName: string
  readonly externalUrl: string
}

/** The facts about a setting that its field does not contain. */
export interface SettingFacts {
  /** Whether a parameter must have the right type. Others may have any type, as on GitLab, and are converted. */
  readonly isTyped: boolean
  /** The description for the documentation: it tells what the setting governs. */
  readonly about: string
  /** Completes “It takes effect in …”. Missing if the setting is only stored and returned for clients. */
  readonly takesEffectIn?: string
  /** Parameters that a request must have too if it turns this setting on. */
  readonly companions?: readonly string[]
  /** Former names, which are accepted and returned. */
  readonly oldNames?: readonly string[]
  /** Former names, which are accepted but not returned. */
  readonly oldParameters?: readonly string[]
  /** A secret is encrypted in the database. The record shows a mask instead of it, or leaves it out. */
  readonly secret?: 'masked' | 'never_shown'
  /** Describes the allowed values in the documentation, if the rules cannot. */
  readonly allowed?: string
}

/** The part of a setting that is computed. */
export interface SettingCode {
  /** Returns the default, if it depends on the instance. */
  defaultOf?(instance: Instance): unknown
  /** Returns the value to store for a valid value. */
  normalize?(value: unknown, context: { readonly instance: Instance; readonly before: unknown }): unknown
}

/** An application setting. Its name in the table is its name for clients and in the database. */
export interface Setting extends SettingFacts, SettingCode, AnyField {}
