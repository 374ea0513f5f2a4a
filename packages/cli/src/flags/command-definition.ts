import type { Command, OptionValues } from 'commander'
import type { Environment } from '../process/environment.ts'

/** A command with its arguments and flags. */
export interface CommandDefinition {
  readonly name: string
  /** Set if the command runs until it is stopped, so that a stop is not a failure. */
  readonly endsWhenInterrupted?: true
  /** Adds description, arguments and flags. */
  define(command: Command): void
  /**
   * @returns the exit code
   * @throws {UsageError} for invalid arguments or flags
   */
  run(inputs: readonly string[], flags: OptionValues, environment: Environment): Promise<number>
}
