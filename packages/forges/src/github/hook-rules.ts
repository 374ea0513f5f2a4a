import { signedHookRules } from '../forge/signed-hooks.ts'

export const hookRules = signedHookRules({
  form: { algorithm: 'sha256', encoding: 'hex', prefix: 'sha256=' },
  eventHeaders: ['x-github-event'],
  signatureHeaders: ['x-hub-signature-256'],
  recordEvents: ['workflow_run', 'workflow_job'],
  formSigns: 'form',
})
