export { isSigningToken, type Verdict, verifySignature } from './verify-signature.ts'
export { Webhooks, type WebhooksOptions } from './webhooks.ts'
