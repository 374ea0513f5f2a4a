const IS_REMOTE_KNOWN = 0x100
const IS_REMOTE = 0x200

/** Flag bits above the W3C trace flags. They tell whether the parent or link target belongs to another pipeline. */
export const LOCAL = IS_REMOTE_KNOWN
export const REMOTE = IS_REMOTE_KNOWN | IS_REMOTE
