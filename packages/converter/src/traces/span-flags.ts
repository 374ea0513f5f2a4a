const IS_REMOTE_KNOWN = 0x100
const IS_REMOTE = 0x200

/** Bits above the W3C trace flags: whether the parent or link target was made by another process's conversion. */
export const LOCAL = IS_REMOTE_KNOWN
export const REMOTE = IS_REMOTE_KNOWN | IS_REMOTE
