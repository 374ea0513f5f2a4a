/** The product's version: of the instrumentation scopes, the command line and the user agent. */
export const PRODUCT_VERSION = '0.1.0'
