import { signedHookRules } from '../forge/signed-hooks.ts'

/** Headers have the name of Forgejo, or that of Gitea, which it comes from. */
export const hookRules = signedHookRules({
  form: { algorithm: 'sha256', encoding: 'hex', prefix: '' },
  eventHeaders: ['x-forgejo-event', 'x-gitea-event'],
  signatureHeaders: ['x-forgejo-signature', 'x-gitea-signature'],
  recordEvents: ['action_run_success', 'action_run_failure', 'action_run_recover'],
})
