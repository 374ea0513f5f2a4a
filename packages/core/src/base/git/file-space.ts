/** The unit in which common file systems allocate space. */
const BLOCK_BYTES = 4_096

/** Returns the disk space of a file with this many bytes, in whole blocks, so that many tiny files count too. */
export const fileSpace = (bytes: number): number => Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES

/**
 * Returns the maximum disk space of a new reference: a file, and a directory for each part of its name but the last.
 */
export const referenceSpace = (name: string): number => name.split('/').length * BLOCK_BYTES
