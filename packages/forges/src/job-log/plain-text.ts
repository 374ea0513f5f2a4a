/**
 * Matches escape sequences of terminals: CSI (`ESC [ … m`), OSC (`ESC ] … BEL`), those of two characters, and one that is cut off. The
 * lengths are limited, so that the time grows with the length of the text.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are control characters.
const escapes = /\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]?|\][^\x07\x1b]{0,2048}(?:\x07|\x1b\\)?|[@-Z\\^_()#][0-9A-B]?|)/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to remove.
const controls = /[\x00-\x08\x0b-\x1f\x7f]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above.
const hasControls = /[\x00-\x08\x0b-\x1f\x7f]/

/** Returns the text without escape sequences of terminals and without control characters except tabs. */
export const plainText = (text: string): string =>
  hasControls.test(text) ? text.replace(escapes, '').replace(controls, '') : text
