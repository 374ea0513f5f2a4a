/** An error in a setting, or in a file that a setting names. The message is one line for the operator and contains no secret. */
export class ConfigError extends Error {
  override readonly name: string = 'ConfigError'
}
