import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseAst } from 'rolldown/parseAst'

/** The clock from which a moment is read. The system time may step; the monotonic one does not. */
type Kind = 'system' | 'monotonic'

export interface Finding {
  readonly file: string
  readonly text: string
}

/** A node of the syntax tree, with the fields that this file reads. */
interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly name?: string
  readonly operator?: string
  readonly computed?: boolean
  readonly [field: string]: unknown
}

/** A function or file, with the names that it declares. */
interface Scope {
  readonly outer: Scope | undefined
  readonly functionName: string | undefined
  readonly parameters: readonly string[]
  readonly kinds: Map<string, Set<Kind>>
}

/** The kinds of the arguments that calls pass, by the name of the function and the position. */
type ParameterKinds = Map<string, Set<Kind>>

const comparisons = new Set(['<', '<=', '>', '>='])
/** Wrappers that do not change a value. */
const transparent = new Set([
  'AwaitExpression',
  'ChainExpression',
  'ParenthesizedExpression',
  'TSAsExpression',
  'TSNonNullExpression',
])

/** Returns the sources of the packages that run in a process of Penstock. */
export function processSources(root: string): string[] {
  const directories = readdirSync(join(root, 'packages'))
    .filter((name) => name !== 'web' && name !== 'testkit')
    .map((name) => `packages/${name}/src`)
    .filter((directory) => existsSync(join(root, directory)))
  return directories.flatMap((directory) =>
    readdirSync(join(root, directory), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !/\.(?:test|case|bench|harness|d)\.ts$/.test(file))
      .map((file) => `${directory}/${file}`),
  )
}

/**
 * Returns the differences and comparisons of two moments of the system time. Follows values by their names, through variables, fields,
 * properties of a file, and the parameters of functions.
 */
export function findSystemTimeDurations(files: readonly { readonly file: string; readonly text: string }[]): Finding[] {
  const parameters: ParameterKinds = new Map()
  const sources = files
    .filter(({ text }) => /Ms\b|Date\.now/.test(text))
    .map(({ file, text }) => new Source(file, text, parameters))
  // Each round follows values through one more call.
  for (let round = 0; round < 4; round += 1) for (const source of sources) source.visit()
  return sources.flatMap((source) => source.visit())
}

class Source {
  readonly #file: string
  readonly #text: string
  readonly #parameters: ParameterKinds
  readonly #program: Node
  readonly #scopes = new Map<Node, Scope>()
  /** The kinds of fields and properties, which are the same for the whole file. */
  readonly #members = new Map<string, Set<Kind>>()

  constructor(file: string, text: string, parameters: ParameterKinds) {
    this.#file = file
    this.#text = text
    this.#parameters = parameters
    this.#program = parseAst(text, { lang: 'ts' }) as unknown as Node
  }

  /** Learns the kinds of names, and returns the findings that follow from those that are known. */
  visit(): Finding[] {
    const found: Finding[] = []
    const walk = (node: Node, outer: Scope, name: string | undefined): void => {
      const scope = isFunction(node) ? this.#scopeOf(node, outer, name) : outer
      this.#learn(node, scope)
      if (node.type === 'BinaryExpression' && this.#isDuration(node, scope)) {
        found.push({ file: this.#file, text: this.#text.slice(node.start, node.end).replaceAll(/\s+/g, ' ') })
      }
      for (const [child, childName] of children(node))
        walk(child, scope, childName ?? (isNamed(node) ? name : undefined))
    }
    walk(this.#program, this.#scopeOf(this.#program, undefined, undefined), undefined)
    return found
  }

  #scopeOf(node: Node, outer: Scope | undefined, name: string | undefined): Scope {
    let scope = this.#scopes.get(node)
    if (scope === undefined) {
      const parameters = ((node.params as Node[] | undefined) ?? []).map(parameterName)
      scope = { outer, functionName: nameOf(node.id as Node | null) ?? name, parameters, kinds: new Map() }
      this.#scopes.set(node, scope)
    }
    return scope
  }

  #learn(node: Node, scope: Scope): void {
    if (node.type === 'VariableDeclarator') this.#assign(node.id as Node, node.init as Node | null, scope)
    else if (node.type === 'AssignmentExpression') this.#assign(node.left as Node, node.right as Node, scope)
    else if (node.type === 'PropertyDefinition')
      add(this.#members, nameOf(node.key as Node), this.#kindOf(node.value as Node | null, scope))
    else if (node.type === 'Property')
      add(this.#members, nameOf(node.key as Node), this.#kindOf(node.value as Node, scope))
    else if (node.type === 'CallExpression' || node.type === 'NewExpression') {
      const name = lastName(node.callee as Node)
      for (const [index, argument] of (node.arguments as Node[]).entries()) {
        if (name !== undefined) add(this.#parameters, `${name}:${index}`, this.#kindOf(argument, scope))
      }
    }
  }

  #assign(target: Node, value: Node | null, scope: Scope): void {
    const kind = this.#kindOf(value, scope)
    if (target.type === 'MemberExpression') add(this.#members, lastName(target), kind)
    else if (target.type === 'Identifier') add(declaring(scope, target.name!)?.kinds ?? scope.kinds, target.name, kind)
  }

  #isDuration(node: Node, scope: Scope): boolean {
    const sides = [node.left as Node, node.right as Node]
    const kinds = sides.map((side) => this.#kindOf(side, scope))
    if (node.operator === '-') {
      return kinds.includes('system') && sides.every((side, index) => kinds[index] === 'system' || isMoment(side))
    }
    return comparisons.has(node.operator ?? '') && kinds.every((kind) => kind === 'system')
  }

  #kindOf(node: Node | null | undefined, scope: Scope): Kind | undefined {
    if (node == null) return undefined
    const kindOf = (inner: unknown) => this.#kindOf(inner as Node, scope)
    if (transparent.has(node.type)) return kindOf(node.argument ?? node.expression)
    switch (node.type) {
      case 'ConditionalExpression':
        return kindOf(node.consequent) ?? kindOf(node.alternate)
      case 'LogicalExpression':
        return kindOf(node.left) ?? kindOf(node.right)
      case 'BinaryExpression': {
        const [left, right] = [kindOf(node.left), kindOf(node.right)]
        if (node.operator === '+') return left ?? right
        // The difference of two moments is a duration.
        return node.operator === '-' && right === undefined && !isMoment(node.right as Node) ? left : undefined
      }
      case 'CallExpression':
        return this.#kindOfCall(node, scope)
      case 'Identifier':
        return kindIn(this.#kindsOfVariable(node.name!, scope), node.name)
      case 'MemberExpression':
        return kindIn(this.#members.get(lastName(node) ?? ''), lastName(node))
      default:
        return undefined
    }
  }

  #kindOfCall(node: Node, scope: Scope): Kind | undefined {
    const callee = node.callee as Node
    const called = this.#text.slice(callee.start, callee.end)
    if (called === 'performance.now' || /^#?monotonicMs$/.test(lastName(callee) ?? '')) return 'monotonic'
    if (called === 'Date.now' || lastName(callee) === 'nowMs') return 'system'
    if (!called.startsWith('Math.m')) return undefined
    return (node.arguments as Node[])
      .map((argument) => this.#kindOf(argument, scope))
      .find((kind) => kind !== undefined)
  }

  #kindsOfVariable(name: string, scope: Scope): Set<Kind> | undefined {
    for (let at: Scope | undefined = scope; at !== undefined; at = at.outer) {
      const known = at.kinds.get(name)
      if (known !== undefined) return known
      const index = at.parameters.indexOf(name)
      if (index >= 0)
        return at.functionName === undefined ? undefined : this.#parameters.get(`${at.functionName}:${index}`)
    }
    return undefined
  }
}

function add(map: Map<string, Set<Kind>>, key: string | undefined, kind: Kind | undefined): void {
  if (key === undefined || kind === undefined) return
  map.set(key, (map.get(key) ?? new Set()).add(kind))
}

/** A name that has both kinds is taken for a system time, and so is an unknown one that is called `nowMs`. */
function kindIn(kinds: Set<Kind> | undefined, name: string | undefined): Kind | undefined {
  if (kinds === undefined) return name === 'nowMs' ? 'system' : undefined
  return kinds.has('system') ? 'system' : 'monotonic'
}

const declaring = (scope: Scope, name: string): Scope | undefined =>
  scope.kinds.has(name) || scope.outer === undefined ? scope : (declaring(scope.outer, name) ?? scope)

const isFunction = (node: Node): boolean => /Function/.test(node.type) && !node.type.startsWith('TS')
/** Nodes between a name and the function that it names. */
const isNamed = (node: Node): boolean => node.type === 'ClassBody' || transparent.has(node.type)

/** Returns the nodes below a node, each with the name that it gives to a function. */
function* children(node: Node): Generator<[Node, string | undefined]> {
  const named = node.type === 'VariableDeclarator' ? nameOf(node.id as Node) : nameOf(node.key as Node | undefined)
  // A constructor is called by the name of its class.
  const name = node.type === 'ClassDeclaration' ? nameOf(node.id as Node) : named === 'constructor' ? undefined : named
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child === 'object' && child !== null && typeof child.type === 'string') yield [child, name]
    }
  }
}

function nameOf(node: Node | null | undefined): string | undefined {
  if (node == null) return undefined
  if (node.type === 'Identifier') return node.name
  return node.type === 'PrivateIdentifier' ? `#${node.name}` : undefined
}

function parameterName(node: Node): string {
  const target = (node.parameter ?? node.left ?? node) as Node
  return nameOf(target) ?? ''
}

function lastName(node: Node): string | undefined {
  if (transparent.has(node.type)) return lastName((node.argument ?? node.expression) as Node)
  return node.type === 'MemberExpression' ? nameOf(node.property as Node) : nameOf(node)
}

const durationName =
  /interval|window|timeout|lease|kept|keep|period|wait|age|retention|lifetime|every|max|min|duration|^ms$/i

/** Returns whether a value is a moment by its name. Constants are durations, and columns of the database are stored times. */
function isMoment(node: Node): boolean {
  if (node.type === 'LogicalExpression') return isMoment(node.left as Node)
  const name = lastName(node)
  return name !== undefined && /^#?[a-z][A-Za-z]*Ms$/.test(name) && !durationName.test(name)
}
