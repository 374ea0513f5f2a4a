import { caseNames, caseText } from '../fixtures.ts'

export interface HookBody {
  /** `case`, or `case[2]` for the third body of an array. */
  readonly name: string
  /** As it stands in the file: numbers beyond doubles, `17.0` and escapes included. */
  readonly text: string
}

/** Every pipeline hook among the fixtures, one by one. */
export function pipelineHookBodies(): HookBody[] {
  return caseNames.flatMap((name) => {
    const text = caseText(name).trim()
    const bodies = text.startsWith('[')
      ? elementsOf(text).map((element, i) => ({ name: `${name}[${i}]`, text: element }))
      : [{ name, text }]
    return bodies.filter((body) => 'object_attributes' in JSON.parse(body.text))
  })
}

/** The elements of a JSON array, as text. */
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
