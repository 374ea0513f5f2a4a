/** A setting, or a file it names, that cannot work. The message is one line for the operator and holds no secret. */
export class ConfigError extends Error {
  override readonly name: string = 'ConfigError'
}
