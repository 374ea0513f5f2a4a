import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

export const root = join(import.meta.dirname, '..')

/** The packages with a layer. `toolchain` has none. */
export const packages = readdirSync(join(root, 'packages')).filter((name) => name !== 'toolchain')

export interface SourceFile {
  /** The path below the root of the repository. */
  readonly file: string
  /** The specifiers of imports, dynamic imports and re-exports, types included. */
  readonly imports: readonly string[]
}

/** Returns every TypeScript file below `packages/<name>/src`. */
export function sourcesOf(name: string): SourceFile[] {
  const directory = join(root, 'packages', name, 'src')
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => join(directory, file))
    .map((file) => ({ file: relative(root, file), imports: importsOf(readFileSync(file, 'utf8')) }))
}

function importsOf(source: string): string[] {
  const statements = source.matchAll(
    /^(?:(?:import|export|\})[^'\n]*\bfrom|import) '([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gm,
  )
  return [...statements].map((match) => match[1] ?? match[2] ?? '')
}

export const isTest = (file: string): boolean => /\.(test|case|harness|bench)\.tsx?$/.test(file)

/** A directed graph: for each node, the nodes that its edges lead to. */
export type Graph = ReadonlyMap<string, ReadonlySet<string>>

/** Returns which file of a package imports which other files of it, types included. */
export function fileGraph(sources: readonly SourceFile[]): Graph {
  const graph = new Map<string, Set<string>>()
  for (const { file, imports } of sources) {
    const targets = imports.filter((specifier) => specifier.startsWith('.'))
    graph.set(file, new Set(targets.map((specifier) => join(dirname(file), specifier))))
  }
  return graph
}

/** Returns which folder of a package imports from which others. The files directly in `src` are the folder `.`, except the entry. */
export function folderGraph(files: Graph): Graph {
  const graph = new Map<string, Set<string>>()
  for (const [file, targets] of files) {
    const from = folderOf(file)
    if (from === undefined) continue
    const edges = graph.get(from) ?? new Set()
    graph.set(from, edges)
    for (const to of [...targets].map(folderOf)) if (to !== undefined && to !== from) edges.add(to)
  }
  return graph
}

/** `packages/rest/src/areas/shapes/job-shape.ts` → areas/shapes; `undefined` for the entry, which exports from every folder */
function folderOf(file: string): string | undefined {
  if (/^packages\/[^/]+\/src\/(?:index|main)\.tsx?$/.test(file)) return undefined
  const match = /^packages\/[^/]+\/src\/(?:(.+)\/)?[^/]+$/.exec(file)
  return match === null ? undefined : (match[1] ?? '.')
}

/** Returns the groups of nodes that reach each other: strongly connected components of more than one node (Tarjan). */
export function cyclesOf(graph: Graph): string[][] {
  const cycles: string[][] = []
  const order = new Map<string, number>()
  const stack: string[] = []

  const visit = (node: string): number => {
    const index = order.size
    order.set(node, index)
    stack.push(node)
    let low = index
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) low = Math.min(low, visit(next))
      else if (stack.includes(next)) low = Math.min(low, order.get(next)!)
    }
    if (low === index) {
      const component = stack.splice(stack.indexOf(node))
      if (component.length > 1) cycles.push(component.sort())
    }
    return low
  }

  for (const node of graph.keys()) if (!order.has(node)) visit(node)
  return cycles
}
