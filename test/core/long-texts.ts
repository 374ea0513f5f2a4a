/** The long texts that users store: the table, the column, and the most characters. */
export const longTexts = [
  ['labels', 'description', 65_536],
  ['milestones', 'description', 65_536],
  ['notes', 'body', 1_000_000],
  ['releases', 'description', 1_000_000],
  ['issues', 'description', 1_048_576],
  ['merge_requests', 'description', 1_048_576],
  ['snippets', 'description', 1_048_576],
] as const

/** Returns a text of which JSON writes each character with six bytes, so that two of the longest texts exceed an answer. */
export const longestText = (characters: number): string => '\u0001'.repeat(characters)
