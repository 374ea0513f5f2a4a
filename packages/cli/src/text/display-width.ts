const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Matches East Asian wide and full-width characters, and emoji that are shown as pictures. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u
const onlyMarks = /^[\p{M}\u200b-\u200d]+$/u
const ascii = /^[\x20-\x7e]*$/

/** Returns the number of columns that a text takes on a terminal. */
export function displayWidth(text: string): number {
  if (ascii.test(text)) return text.length
  let width = 0
  for (const { segment } of segmenter.segment(text)) width += graphemeWidth(segment)
  return width
}

/** Returns the text cut at `width` columns, with an ellipsis if something is missing. */
export function fitted(text: string, width: number): string {
  if (displayWidth(text) <= width) return text
  if (width <= 0) return ''
  let kept = ''
  let used = 0
  for (const { segment } of segmenter.segment(text)) {
    used += graphemeWidth(segment)
    if (used > width - 1) break
    kept += segment
  }
  return `${kept}…`
}

export function paddedEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(width - displayWidth(text), 0))
}

function graphemeWidth(grapheme: string): number {
  if (onlyMarks.test(grapheme)) return 0
  return wide.test(grapheme) ? 2 : 1
}
