export interface Finding {
  readonly line: number
  readonly found: string
  readonly kind: 'word' | 'doc comment'
}

export function hardToRead(text: string): Finding[]
export function textFiles(paths?: readonly string[]): string[]
