import { caseNames, caseText } from '../fixtures.ts'

export interface HookBody {
  /** The name: `case`, or `case[2]` for the third body of an array. */
  readonly name: string
  /** The unchanged text of the file, including numbers beyond doubles, `17.0` and escapes. */
  readonly text: string
}

/** Returns every pipeline hook of the fixtures. */
export function pipelineHookBodies(): HookBody[] {
  return caseNames.flatMap((name) => {
    const text = caseText(name).trim()
    const bodies = text.startsWith('[')
      ? elementsOf(text).map((element, i) => ({ name: `${name}[${i}]`, text: element }))
      : [{ name, text }]
    return bodies.filter((body) => 'object_attributes' in JSON.parse(body.text))
  })
}

/** Returns the elements of a JSON array as text. */
function elementsOf(array: string): string[] {
  const elements: string[] = []
  let depth = 0
  let start = 1
  for (const { 0: token, index } of array.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},]/g)) {
    if (token === '[' || token === '{') depth += 1
    if (token === ']' || token === '}') depth -= 1
    if ((token === ',' && depth === 1) || depth === 0) {
      elements.push(array.slice(start, index))
      start = index + 1
    }
  }
  return elements
}
