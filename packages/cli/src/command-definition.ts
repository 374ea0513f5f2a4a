import type { Command, OptionValues } from 'commander'
import type { Environment } from './environment.ts'

/** A command: what may be typed, and what it does. */
export interface CommandDefinition {
  readonly name: string
  /** Being told to stop is how it ends, and no failure. */
  readonly endsWhenInterrupted?: true
  /** Adds description, arguments and flags. */
  define(command: Command): void
  /**
   * @returns the exit code
   * @throws {UsageError} when what was typed cannot work
   */
  run(inputs: readonly string[], flags: OptionValues, environment: Environment): Promise<number>
}
