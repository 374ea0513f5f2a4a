import { signedHookRules } from '../forge/signed-hooks.ts'

/** Hooks of Bitbucket contain no pipeline: those about the status of a commit name one that has changed. */
export const hookRules = signedHookRules({
  form: { algorithm: 'sha256', encoding: 'hex', prefix: 'sha256=' },
  eventHeaders: ['x-event-key'],
  signatureHeaders: ['x-hub-signature'],
  recordEvents: ['repo:commit_status_created', 'repo:commit_status_updated'],
})
