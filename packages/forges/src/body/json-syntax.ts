/**
 * Returns the offset of the first character that is a syntax error, or the length of a text that is incomplete or valid.
 * The error messages of V8 cannot be used: they change between versions, and some contain no position.
 *
 * @see RFC 8259
 */
export function findSyntaxError(json: string): number {
  const closers: string[] = []
  let expected: 'value' | 'value or end' | 'key' | 'key or end' | 'comma or end' = 'value'
  let at = skipBlanks(json, 0)
  while (at < json.length) {
    const char = json.charAt(at)
    if (expected === 'comma or end') {
      if (closers.length === 0) return at
      if (char === ',') expected = closers.at(-1) === '}' ? 'key' : 'value'
      else if (char === closers.at(-1)) closers.pop()
      else return at
      at++
    } else if (char === closers.at(-1) && (expected === 'key or end' || expected === 'value or end')) {
      closers.pop()
      expected = 'comma or end'
      at++
    } else if (expected === 'key' || expected === 'key or end') {
      if (char !== '"') return at
      const key = scanString(json, at)
      if (!key.complete) return key.end
      at = skipBlanks(json, key.end)
      if (json.charAt(at) !== ':') return at
      expected = 'value'
      at++
    } else if (char === '{' || char === '[') {
      closers.push(char === '{' ? '}' : ']')
      expected = char === '{' ? 'key or end' : 'value or end'
      at++
    } else {
      const scalar = scanScalar(json, at)
      if (!scalar.complete) return scalar.end
      expected = 'comma or end'
      at = scalar.end
    }
    at = skipBlanks(json, at)
  }
  return at
}

/** A scanned token. `end` is the offset after a complete token, or the offset of the error in an incomplete one. */
interface Token {
  readonly complete: boolean
  readonly end: number
}

function scanScalar(json: string, at: number): Token {
  switch (json.charAt(at)) {
    case '"':
      return scanString(json, at)
    case 't':
      return scanWord(json, at, 'true')
    case 'f':
      return scanWord(json, at, 'false')
    case 'n':
      return scanWord(json, at, 'null')
    default:
      return scanNumber(json, at)
  }
}

function scanString(json: string, open: number): Token {
  let at = open + 1
  while (at < json.length) {
    const char = json.charAt(at)
    if (char === '"') return { complete: true, end: at + 1 }
    if (char < ' ') return { complete: false, end: at }
    at++
    if (char !== '\\') continue
    const letter = json.charAt(at)
    if (letter === '' || !'"\\/bfnrtu'.includes(letter)) return { complete: false, end: at }
    at++
    if (letter !== 'u') continue
    for (const end = at + 4; at < end; at++) {
      if (!/[\da-f]/i.test(json.charAt(at))) return { complete: false, end: at }
    }
  }
  return { complete: false, end: at }
}

function scanWord(json: string, from: number, word: string): Token {
  for (let matched = 0; matched < word.length; matched++) {
    if (json.charAt(from + matched) !== word.charAt(matched)) return { complete: false, end: from + matched }
  }
  return { complete: true, end: from + word.length }
}

function scanNumber(json: string, from: number): Token {
  let at = json.charAt(from) === '-' ? from + 1 : from
  const integerEnd = json.charAt(at) === '0' ? at + 1 : skipDigits(json, at)
  if (integerEnd === at) return { complete: false, end: at }
  at = integerEnd
  if (json.charAt(at) === '.') {
    const fractionEnd = skipDigits(json, at + 1)
    if (fractionEnd === at + 1) return { complete: false, end: fractionEnd }
    at = fractionEnd
  }
  if (json.charAt(at) === 'e' || json.charAt(at) === 'E') {
    const digits = json.charAt(at + 1) === '+' || json.charAt(at + 1) === '-' ? at + 2 : at + 1
    const exponentEnd = skipDigits(json, digits)
    if (exponentEnd === digits) return { complete: false, end: digits }
    at = exponentEnd
  }
  return { complete: true, end: at }
}

function skipDigits(json: string, from: number): number {
  let at = from
  while (json.charAt(at) >= '0' && json.charAt(at) <= '9') at++
  return at
}

function skipBlanks(json: string, from: number): number {
  let at = from
  while (at < json.length && ' \t\r\n'.includes(json.charAt(at))) at++
  return at
}
