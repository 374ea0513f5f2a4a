/** What this service says it is. */
export const serviceVersion = {
  /** Of the platform whose API this is, because clients decide by it what they may ask. */
  version: '18.5.0-penstock',
  /** Of this product. */
  revision: '0.1.0',
} as const
