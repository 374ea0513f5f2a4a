import { signedHookRules } from '../forge/signed-hooks.ts'

const PREFIX = 'v1='

export const hookRules = signedHookRules({
  form: { algorithm: 'sha256', encoding: 'hex', prefix: PREFIX },
  eventHeaders: ['circleci-event-type'],
  signatureHeaders: ['circleci-signature'],
  // The header is a list of signatures, one for each version.
  findSignature: (list) =>
    list
      .split(',')
      .map((each) => each.trim())
      .find((each) => each.startsWith(PREFIX)),
  recordEvents: ['workflow-completed', 'job-completed'],
})
