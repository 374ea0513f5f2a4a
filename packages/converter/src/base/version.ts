/** The product's version, used in instrumentation scopes, the command line and the user agent. */
export const PRODUCT_VERSION = '0.1.0'
