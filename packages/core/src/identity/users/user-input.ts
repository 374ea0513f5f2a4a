import { errorTexts } from '../../base/kit/error-texts.ts'

const emailAddress = /^[^\s@<>]+@[^\s@<>]+$/
const MAX_EMAIL = 254
const passwordLength = { min: 8, max: 128 }

/** Returns what is wrong with an e-mail address; `undefined` if nothing is. */
export const validateEmail = (email: string): string | undefined =>
  email.length <= MAX_EMAIL && emailAddress.test(email) ? undefined : 'is invalid'

/** Returns what is wrong with a password; `undefined` if nothing is. The length counts characters, not bytes. */
export function validatePassword(password: string): string | undefined {
  const length = [...password].length
  if (length < passwordLength.min) return `is too short (minimum is ${passwordLength.min} characters)`
  if (length > passwordLength.max) return errorTexts.tooLong(passwordLength.max)
  return undefined
}
