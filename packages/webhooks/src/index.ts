export { Webhooks, type WebhooksOptions } from './webhooks.ts'
