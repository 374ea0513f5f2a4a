/** The error of a limit on what a request may read. */
export class ReadLimitExceeded extends Error {
  override readonly name = 'ReadLimitExceeded'
}

/** Limits the texts that statements read. `admit` is called for every text, in the order in which texts arrive. */
export interface ReadLimit {
  /** Returns the text, or a shorter one in its place. `ReadLimitExceeded` ends the statement before its other rows are read. */
  admit(text: string): string
}

/** The reader of statements, and the limit on what they read. */
export interface ReadScope {
  readonly limit?: ReadLimit | undefined
  /** The network subscriber that sent the request. Searches of several subscribers take turns. */
  readonly subscriber?: string | undefined
}

/** Applies the limit to the texts among the values of a row, in place. */
export function admitTexts(cells: unknown[], limit: ReadLimit): void {
  for (let index = 0; index < cells.length; index += 1) {
    const cell = cells[index]
    if (typeof cell === 'string') cells[index] = limit.admit(cell)
  }
}
