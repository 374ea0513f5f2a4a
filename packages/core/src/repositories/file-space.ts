/** The unit in which common file systems give space to files. */
const BLOCK_BYTES = 4_096

/** Returns the space that a file of this many bytes takes on a disk: whole blocks, so that a million tiny files are not free. */
export const fileSpace = (bytes: number): number => Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES

/** Returns the most space that a new reference takes: a file, and a directory for each part of its name before the last. */
export const referenceSpace = (name: string): number => name.split('/').length * BLOCK_BYTES
