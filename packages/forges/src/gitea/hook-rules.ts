import { signedHookRules } from '../forge/signed-hooks.ts'

export const hookRules = signedHookRules({
  form: { algorithm: 'sha256', encoding: 'hex', prefix: '' },
  eventHeaders: ['x-gitea-event'],
  signatureHeaders: ['x-gitea-signature'],
  recordEvents: ['workflow_run', 'workflow_job'],
  formSigns: 'payload',
})
