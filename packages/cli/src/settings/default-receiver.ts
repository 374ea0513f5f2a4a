/** The address on which `penstock hooks receive` listens unless it is given another. */
export const DEFAULT_RECEIVER = '127.0.0.1:9000'
