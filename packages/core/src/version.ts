/** The version that the service reports to clients. */
export const serviceVersion = {
  /** The version of GitLab with the same API: clients derive from it which requests they may send. */
  version: '18.5.0-penstock',
  /** The version of this product. */
  revision: '0.1.0',
} as const
