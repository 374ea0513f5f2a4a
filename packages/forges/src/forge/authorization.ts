import type { HookHeaders } from './hook-rules.ts'

/** Returns the token of `Authorization: Bearer`. */
export const bearerToken = (headers: HookHeaders): string | undefined =>
  /^bearer +(\S.*)$/i.exec(authorization(headers))?.[1]

/** Returns `user:password` of `Authorization: Basic`, each byte as one character. */
export function basicCredentials(headers: HookHeaders): string | undefined {
  const [, encoded] = /^basic ([a-z\d+/]+={0,2})$/i.exec(authorization(headers)) ?? []
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('latin1')
}

const authorization = ({ authorization: value }: HookHeaders): string => value?.toString().trim() ?? ''
