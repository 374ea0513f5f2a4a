import {
  type Accepts,
  classes,
  conditions,
  controls,
  type Holds,
  isFirst,
  isLast,
  namedClasses,
  onceForEach,
} from './regex-classes.ts'

/** Thrown for an expression that is not valid, or that needs too large an automaton. */
export class RegexError extends Error {
  override readonly name = 'RegexError'
}

/** A state reads a character, checks a condition without reading, or leads to other states at once. */
export interface RegexState {
  readonly accepts?: Accepts
  readonly holds?: Holds
  readonly next: number[]
}

const MAX_STATES = 2_000
/** The limit of the transitions between states, which a character can cause to be followed all. */
const MAX_TRANSITIONS = 20_000
const MAX_REPEATS = 1_000
const MAX_DEPTH = 200

/** A part of the automaton: its first state, and the states that lead out of it. */
interface Fragment {
  readonly start: number
  readonly ends: readonly number[]
}

interface Flags {
  readonly ignoresCase: boolean
  readonly isMultiline: boolean
  readonly dotIsAll: boolean
}

/** Reads an expression and makes the states of its automaton. */
class Compiler {
  readonly states: RegexState[] = []
  readonly #source: readonly string[]
  /** The classes in brackets, by where they begin, with where they end. Each is compiled once, however often it is repeated. */
  readonly #classes = new Map<number, { readonly accepts: Accepts; readonly end: number }>()
  #transitions = 0
  #at = 0
  #depth = 0
  #flags: Flags = { ignoresCase: false, isMultiline: false, dotIsAll: false }

  constructor(expression: string) {
    this.#source = [...expression]
  }

  compile(): number {
    const { start, ends } = this.#alternatives()
    if (this.#at < this.#source.length) throw new RegexError('unexpected )')
    this.#connect(ends, this.#add({ next: [] }))
    return start
  }

  #alternatives(): Fragment {
    this.#depth += 1
    if (this.#depth > MAX_DEPTH) throw new RegexError('groups are nested too deeply')
    const outer = this.#flags
    const parts = [this.#sequence()]
    while (this.#take('|')) parts.push(this.#sequence())
    this.#flags = outer
    this.#depth -= 1
    if (parts.length === 1) return parts[0]!
    this.#countTransitions(parts.length)
    return { start: this.#add({ next: parts.map(({ start }) => start) }), ends: parts.flatMap(({ ends }) => ends) }
  }

  #sequence(): Fragment {
    const first = this.#add({ next: [] })
    let whole: Fragment = { start: first, ends: [first] }
    while (this.#at < this.#source.length && this.#peek() !== '|' && this.#peek() !== ')') {
      const part = this.#repeated()
      this.#connect(whole.ends, part.start)
      whole = { start: whole.start, ends: part.ends }
    }
    return whole
  }

  #repeated(): Fragment {
    const from = this.#at
    const flags = this.#flags
    let part = this.#atom()
    const until = this.#at
    let repeats = 0
    for (let range = this.#quantifier(); range !== undefined; range = this.#quantifier()) {
      repeats += 1
      if (repeats > 1) throw new RegexError('a quantifier follows another')
      part = this.#times(part, range, () => this.#again(from, until, flags))
    }
    return part
  }

  /** Compiles a part of the expression again, because each repetition has states of its own. */
  #again(from: number, until: number, flags: Flags): Fragment {
    const [at, current] = [this.#at, this.#flags]
    this.#at = from
    this.#flags = flags
    const part = this.#atom()
    if (this.#at !== until) throw new RegexError('a group ends elsewhere')
    this.#at = at
    this.#flags = current
    return part
  }

  #times(first: Fragment, [least, most]: readonly [number, number], again: () => Fragment): Fragment {
    const start = this.#add({ next: [] })
    let ends: readonly number[] = [start]
    const skips: number[] = []
    const parts = Math.max(least, most === Number.POSITIVE_INFINITY ? Math.max(least, 1) : most)
    for (let count = 0; count < parts; count += 1) {
      const part = count === 0 ? first : again()
      if (count >= least) skips.push(...ends)
      this.#connect(ends, part.start)
      ends = part.ends
      const isLast = count === parts - 1
      if (isLast && most === Number.POSITIVE_INFINITY) this.#connect(ends, part.start)
    }
    return { start, ends: [...ends, ...skips] }
  }

  #quantifier(): readonly [number, number] | undefined {
    const range = this.#range()
    if (range !== undefined) this.#take('?')
    return range
  }

  #range(): readonly [number, number] | undefined {
    if (this.#take('*')) return [0, Number.POSITIVE_INFINITY]
    if (this.#take('+')) return [1, Number.POSITIVE_INFINITY]
    if (this.#take('?')) return [0, 1]
    const match = /^\{(\d{1,5})(,(\d{0,5}))?\}/.exec(this.#rest(16))
    if (match === null) return undefined
    this.#at += match[0].length
    const least = Number(match[1])
    const most = match[2] === undefined ? least : match[3] === '' ? Number.POSITIVE_INFINITY : Number(match[3])
    if (least > MAX_REPEATS || (most > MAX_REPEATS && most !== Number.POSITIVE_INFINITY) || most < least) {
      throw new RegexError('the number of repetitions is not valid')
    }
    return [least, most]
  }

  #atom(): Fragment {
    const character = this.#next()
    switch (character) {
      case '(':
        return this.#group()
      case '[':
        return this.#reads(this.#classOf())
      case '.':
        return this.#reads(this.#flags.dotIsAll ? () => true : (each) => each !== '\n')
      case '^':
        return this.#checks(this.#flags.isMultiline ? (before) => before === undefined || before === '\n' : isFirst)
      case '$':
        return this.#checks(this.#flags.isMultiline ? (_, after) => after === undefined || after === '\n' : isLast)
      case '*':
      case '+':
      case '?':
        throw new RegexError('there is nothing to repeat')
      case '\\':
        return this.#escape()
      default:
        return this.#reads(this.#literal(character))
    }
  }

  #group(): Fragment {
    const match = /^\?(?:P?<\w+>|([imsU]*)(?:-([imsU]+))?(:|\)))/.exec(this.#rest(64))
    if (this.#peek() === '?' && match === null) throw new RegexError('the group has no valid form')
    const [all = '', set, unset = '', end] = match ?? []
    this.#at += all.length
    const outer = this.#flags
    if (set !== undefined) this.#flags = withFlags(this.#flags, set, unset)
    // Flags without a group of their own apply to the rest of the group around them.
    if (end === ')') return this.#empty()
    const part = this.#alternatives()
    if (!this.#take(')')) throw new RegexError('missing )')
    this.#flags = outer
    return part
  }

  #escape(): Fragment {
    const character = this.#next()
    const condition = conditions[character]
    if (condition !== undefined) return this.#checks(condition)
    if (character !== 'Q') return this.#reads(this.#escaped(character))
    let whole = this.#empty()
    while (this.#at < this.#source.length && this.#rest(2) !== '\\E') {
      const part = this.#reads(this.#literal(this.#next()))
      this.#connect(whole.ends, part.start)
      whole = { start: whole.start, ends: part.ends }
    }
    this.#at += this.#rest(2).length
    return whole
  }

  /** Returns what an escape in or outside a class accepts. */
  #escaped(character: string): Accepts {
    const known = classes[character]
    if (known !== undefined) return known
    return this.#literal(this.#escapedCharacter(character))
  }

  #escapedCharacter(character: string): string {
    if (Object.hasOwn(controls, character)) return controls[character]!
    if (character === 'x') {
      const match = /^(?:([0-9a-fA-F]{2})|\{([0-9a-fA-F]{1,6})\})/.exec(this.#rest(8))
      const code = Number.parseInt(match?.[1] ?? match?.[2] ?? '', 16)
      if (match === null || code > 0x10ffff) throw new RegexError('the character code is not valid')
      this.#at += match[0].length
      return String.fromCodePoint(code)
    }
    if (/[\p{L}\p{N}]/u.test(character)) throw new RegexError(`\\${character} is not valid`)
    return character
  }

  #classOf(): Accepts {
    const from = this.#at
    const known = this.#classes.get(from)
    if (known !== undefined) {
      this.#at = known.end
      return known.accepts
    }
    const accepts = onceForEach(this.#newClass())
    this.#classes.set(from, { accepts, end: this.#at })
    return accepts
  }

  #newClass(): Accepts {
    const isNegated = this.#take('^')
    const members: Accepts[] = []
    for (let isFirstMember = true; isFirstMember || this.#peek() !== ']'; isFirstMember = false) {
      members.push(this.#classMember())
    }
    this.#at += 1
    return (character) => members.some((accepts) => accepts(character)) !== isNegated
  }

  #classMember(): Accepts {
    const named = /^\[:(\^?)([a-z]+):\]/.exec(this.#rest(16))
    if (named !== null) {
      const known = namedClasses[named[2]!]
      if (known === undefined) throw new RegexError('the class has no valid name')
      this.#at += named[0].length
      return (character) => known.test(character) !== (named[1] === '^')
    }
    const first = this.#next()
    if (first === '\\' && classes[this.#peek() ?? ''] !== undefined) return classes[this.#next()]!
    const low = first === '\\' ? this.#escapedCharacter(this.#next()) : first
    if (this.#peek() !== '-' || this.#source[this.#at + 1] === ']') return this.#literal(low)
    this.#at += 1
    const last = this.#next()
    const high = last === '\\' ? this.#escapedCharacter(this.#next()) : last
    const [from, to] = [low.codePointAt(0)!, high.codePointAt(0)!]
    if (from > to) throw new RegexError('the range ends before it begins')
    const isWithin = (character: string) => character.codePointAt(0)! >= from && character.codePointAt(0)! <= to
    if (!this.#flags.ignoresCase) return isWithin
    return (character) => [character, character.toLowerCase(), character.toUpperCase()].some(isWithin)
  }

  #literal(wanted: string): Accepts {
    if (!this.#flags.ignoresCase) return (character) => character === wanted
    const lower = wanted.toLowerCase()
    return (character) => character.toLowerCase() === lower
  }

  #reads(accepts: Accepts): Fragment {
    const index = this.#add({ accepts, next: [] })
    return { start: index, ends: [index] }
  }

  #checks(holds: Holds): Fragment {
    const index = this.#add({ holds, next: [] })
    return { start: index, ends: [index] }
  }

  #empty(): Fragment {
    const index = this.#add({ next: [] })
    return { start: index, ends: [index] }
  }

  #add(state: RegexState): number {
    if (this.states.length >= MAX_STATES) throw new RegexError('the expression is too large')
    return this.states.push(state) - 1
  }

  #countTransitions(added: number): void {
    this.#transitions += added
    if (this.#transitions > MAX_TRANSITIONS) throw new RegexError('the expression is too large')
  }

  #connect(ends: readonly number[], to: number): void {
    this.#countTransitions(ends.length)
    for (const end of ends) this.states[end]!.next.push(to)
  }

  #peek(): string | undefined {
    return this.#source[this.#at]
  }

  #rest(length: number): string {
    return this.#source.slice(this.#at, this.#at + length).join('')
  }

  #take(character: string): boolean {
    const isNext = this.#peek() === character
    if (isNext) this.#at += 1
    return isNext
  }

  #next(): string {
    const character = this.#peek()
    if (character === undefined) throw new RegexError('the expression ends too early')
    this.#at += 1
    return character
  }
}

/** @throws RegexError */
export function compileRegex(expression: string): { readonly start: number; readonly states: readonly RegexState[] } {
  const compiler = new Compiler(expression)
  return { start: compiler.compile(), states: compiler.states }
}

const withFlags = (flags: Flags, set: string, unset: string): Flags => ({
  ignoresCase: !unset.includes('i') && (set.includes('i') || flags.ignoresCase),
  isMultiline: !unset.includes('m') && (set.includes('m') || flags.isMultiline),
  dotIsAll: !unset.includes('s') && (set.includes('s') || flags.dotIsAll),
})
