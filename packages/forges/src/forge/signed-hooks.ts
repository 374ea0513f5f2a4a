import { type SignatureForm, validateHmac } from './hmac-signature.ts'
import type { HookHeaders, HookRules } from './hook-rules.ts'

/** How a forge signs its hooks. Of several names of a header, the first one that a request has is used. */
interface SignedHooks {
  readonly form: SignatureForm
  readonly eventHeaders: readonly string[]
  readonly signatureHeaders: readonly string[]
  /** Returns the signature in the value of its header; absent if the value is the signature. */
  readonly findSignature?: (value: string) => string | undefined
  readonly recordEvents: readonly string[]
  readonly formSigns?: 'form' | 'payload'
}

/** Returns the rules of a forge that signs the bodies of its hooks. The secret token of a source is the key of the signature. */
export function signedHookRules({ form, findSignature, ...hooks }: SignedHooks): HookRules {
  const signature = (headers: HookHeaders): string | undefined => {
    const value = headerText(headers, hooks.signatureHeaders)
    return value === undefined || findSignature === undefined ? value : findSignature(value)
  }
  return {
    event: (headers) => headerWord(headers, ...hooks.eventHeaders),
    recordEvents: hooks.recordEvents,
    ...(hooks.formSigns && { formSigns: hooks.formSigns }),
    validateHeaders: ({ secretTokens }, { headers }) => {
      if (secretTokens.length === 0) return undefined
      const given = signature(headers) ?? ''
      return given.startsWith(form.prefix) && given.length > form.prefix.length ? undefined : 'signature_missing'
    },
    validateSignature: (credentials, headers, body) => validateHmac(credentials, form, signature(headers), [body]),
  }
}

/** Returns the word in a header, in lower case. */
export const headerWord = (headers: HookHeaders, ...names: readonly string[]): string | undefined =>
  headerText(headers, names)?.trim().toLowerCase()

const headerText = (headers: HookHeaders, names: readonly string[]): string | undefined =>
  names.map((name) => headers[name]).find((value) => typeof value === 'string')
