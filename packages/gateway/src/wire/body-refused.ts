/** Reports that a body cannot be read. Callers turn it into a refusal or skip the body. */
export class BodyRefused extends Error {
  override readonly name = 'BodyRefused'
  readonly kind: 'bad_body' | 'body_too_large' | 'unsupported_media_type'

  constructor(kind: BodyRefused['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

export function malformed(problem: string): never {
  throw new BodyRefused('bad_body', problem)
}
